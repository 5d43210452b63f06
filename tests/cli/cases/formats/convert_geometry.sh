# what a file states of the geometry stands in the headers of what it is converted to
states() { $airy info $1 | sed -n 's/^  geometry //p'; }
$airy simulate diffraction own.h5 --detector pilatus_100k --dist 0.15 --poni1 0.0172 --poni2 0.0344 --energy 12.398419843320026 \
    --frames 8 --seed 1 --quiet || exit 1
small=own.h5
states $small
for out in cbf edf h5; do
    $airy convert $small --frames 5 -o f.$out --quiet || exit 1
    states f.$out
done
case $($airy --version --verbose) in *"tiff: libtiff"*)
    $airy convert $small --frames 5 -o f.tif --quiet || exit 2
    [ "$(states f.tif)" = "$(states f.cbf)" ] || exit 3 ;;
esac
# as detectors write it
tr -d '\r' <f.cbf | sed -n '/^_array_data.header/p; /^# /p' | grep -a '^[_#]'
sed -n '/^[PSCW][A-Za-z]*_*[12]* =/p' f.edf | grep -av '^Size'
# the same numbers come of it
$airy integrate f.cbf --method histogram -o a.h5 --quiet && $airy integrate f.h5 --method histogram -o b.h5 --quiet || exit 4
$airy diff a.h5 b.h5 --rtol 1e-6 >/dev/null || exit 5
# files of two geometries are no file of one
sed 's/^SampleDistance = 0.1/SampleDistance = 0.2/' f.edf >g.edf
$airy convert '[fg].edf' -o h.edf || exit 6
[ -z "$(states h.edf)" ] || exit 7
# what is not known is not written
$airy convert f.edf -o x.npy --quiet && $airy convert x.npy -o y.edf --quiet && $airy convert x.npy -o y.cbf --quiet || exit 8
[ -z "$(states y.edf)$(states y.cbf)" ] || exit 9
grep -aq 'PSize\|header_contents' y.edf y.cbf && exit 10
$airy info y.edf | head -1
# a mean of frames is one of the same detector
$airy reduce $small -o mean.edf --quiet && states mean.edf
$airy reduce $small -o mean.h5 --quiet && [ "$(states mean.h5)" = "$(states mean.edf)" ] || exit 11

# one flipped byte of a CBF frame is a failed frame that the header's MD5 shows; --no-verify reads it
for i in 0 1 2; do
    $airy convert $small --frames $i:$((i + 1)) -o f$i.cbf --quiet || exit 2
done
grep -aq '^Content-MD5: ......................==' f1.cbf || exit 3
printf '\102' | dd of=f1.cbf bs=1 seek=30000 conv=notrunc status=none
set -- f0.cbf f1.cbf f2.cbf --poni ${small%.h5}.poni
$airy integrate "$@" -o a.h5 2>said
[ $? = 1 ] && [ "$(wc -l <said)" = 1 ] && grep -q 'f1.cbf.*Content-MD5.*--on-error skip' said || { cat said >&2; exit 4; }
$airy integrate "$@" --on-error skip -o s.h5 2>said
[ $? = 3 ] && grep -q '1 of 3 frames .*the first: .*f1.cbf.*Content-MD5' said || { cat said >&2; exit 5; }
$airy integrate "$@" --no-verify -o b.h5 --quiet || exit 6
$airy convert f1.cbf -o f1.npy 2>said
[ $? = 1 ] && [ "$(wc -l <said)" = 1 ] && grep -q 'f1.cbf.*Content-MD5' said || { cat said >&2; exit 7; }
# every command that reads takes --no-verify
$airy convert f1.cbf -o f1.npy --no-verify --quiet || exit 11
$airy stats f1.cbf --no-verify >/dev/null || exit 12
case $($airy --version --verbose) in *"fits: cfitsio"*)
    $airy convert f0.cbf -o f0.fits --quiet || exit 13
    size=$(stat -c %s f0.fits)
    printf '\102\103' | dd of=f0.fits bs=1 seek=$((size - 9000)) conv=notrunc status=none
    $airy stats f0.fits >/dev/null 2>said
    [ $? = 1 ] && [ "$(wc -l <said)" = 1 ] && grep -q 'DATASUM' said || { cat said >&2; exit 14; }
    $airy stats f0.fits --no-verify >/dev/null || exit 15 ;;
esac
# what libhdf5, libpng and zlib verify is named, too
cp $golden/diffraction/hdf5/fletcher.h5 f.h5 || exit 8
size=$(stat -c %s f.h5)
printf '\102\103' | dd of=f.h5 bs=1 seek=$((size - 3000)) conv=notrunc status=none
$airy stats f.h5 --quiet >/dev/null 2>said
[ $? = 1 ] && [ "$(wc -l <said)" = 1 ] && grep -qi 'f.h5.*checksum' said || { cat said >&2; exit 9; }
gzip -k f0.cbf && size=$(stat -c %s f0.cbf.gz)
printf '\102\103' | dd of=f0.cbf.gz bs=1 seek=$((size - 8)) conv=notrunc status=none
$airy convert f0.cbf.gz -o f0.npy 2>said
[ $? = 1 ] && [ "$(wc -l <said)" = 1 ] && grep -q 'f0.cbf.gz' said || { cat said >&2; exit 10; }

# frames of a stack, and planes of an image, by number: the same values as in the whole
$airy convert $small -o all.npy --quiet || exit 1
for out in npy h5 edf cbf; do
    $airy convert $small --frames 5 -o one.$out || exit 2
    $airy convert one.$out -o one_$out.npy --quiet && $airy diff one.npy one_$out.npy
done
# all.npy: 128 bytes before 8 frames of 195 x 487 uint32; the last but two of them
tail -c $((195 * 487 * 4 * 3)) all.npy | head -c $((195 * 487 * 4)) >want
tail -c $((195 * 487 * 4)) one.npy | cmp - want || exit 3
$airy convert $small --frames 1:8:2 -o some.npy
$airy convert all.npy --frames 5 -o again.npy --quiet && cmp one.npy again.npy
$airy convert some.npy --frames 2:3 -o again.npy --force --quiet && cmp one.npy again.npy
# one frame is 2-D however it is named
$airy convert $small --frames 5:8:9 -o again.npy --force --quiet && cmp one.npy again.npy
$airy convert all.npy --frames 7: -o again.npy --force
$airy convert $small --frames 0:8 --memory-limit 1M -o none.npy
# the least of all limits leaves libraries room to open the file
$airy convert $small --frames 0:8 --memory-limit 1 -o none.npy
$airy convert $small --memory-limit 1 -o none.npy
case $($airy --version --verbose) in *"tiff: libtiff"*)
    $airy convert all.npy -o all.tif --quiet && $airy convert all.tif --frames 5 -o again.npy --force --quiet && cmp one.npy again.npy ;;
esac
case $($airy --version --verbose) in *"fits: cfitsio"*)
    $airy convert all.npy -o all.fits --quiet && $airy convert all.fits --frames 5 -o again.npy --force --quiet && cmp one.npy again.npy
    $airy convert all.fits --frames 5 -o one.fits --quiet && $airy convert one.fits --frames 0 -o again.npy --force --quiet && cmp one.npy again.npy ;;
esac
$airy convert $small --frames 8 -o none.npy
echo "exit $?"
$airy convert $small --frames 3:9 -o none.npy
$airy convert some.npy --frames 2:2 -o none.npy
$airy convert one.npy --frames 1 -o none.npy
cp $small own.h5 && $airy convert own.h5 --frames 1 -o own.h5 --force
[ ! -e none.npy ]

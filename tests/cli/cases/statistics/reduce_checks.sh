# reduce says what integrate says of a master, and which pixels that no mask has are what detectors write into gaps
. "$cli/check.sh"
cp "$small" source.h5
$helper series short source.h5 2 20
$helper series shape source.h5 4 8
$helper number shape.h5 /entry/instrument/detector/detectorSpecific/x_pixels_in_detector 487
$helper number shape.h5 /entry/instrument/detector/detectorSpecific/y_pixels_in_detector 190
expect 'frames that a master promises are missed once'
$airy reduce short.h5 --quiet -o short.npy
$airy reduce short.h5 --quiet -o mean.h5
$airy reduce short.h5 --quiet --hot 6 -o hot.npy
expect 'a shape that a master states is compared'
$airy reduce shape.h5 --quiet -o shape.npy
npy() { # DTYPE; bytes follow
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': (3, 2, 2)}"
}
{ npy '<u2'; printf '\5\0\6\0\7\0\10\0\5\0\6\0\7\0\10\0\5\0\377\377\7\0\376\377'; } >u2.npy
{ npy '<i4'; printf '\5\0\0\0\6\0\0\0\7\0\0\0\377\377\377\377\5\0\0\0\6\0\0\0\7\0\0\0\10\0\0\0\5\0\0\0\6\0\0\0\7\0\0\0\10\0\0\0'; } >i4.npy
{ npy '<i2'; printf '\5\0\6\0\7\0\375\377\5\0\6\0\7\0\375\377\5\0\6\0\7\0\375\377'; } >low.npy # -3: a number
expect 'values of gaps are named in every format'
$airy convert u2.npy -o u2.h5 --quiet
for file in u2.npy u2.h5 i4.npy low.npy; do
    $airy reduce $file --by max -o ${file%.*}_${file#*.}.npy 2>&1 >/dev/null | grep -v 'max of 3 frames'
done
expect 'what the file masks is not named'
$airy simulate diffraction gaps.h5 --detector pilatus_100k --frames 2 --gaps --quiet
$airy reduce gaps.h5 -o gaps.npy --quiet
true

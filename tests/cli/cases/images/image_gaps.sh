# what detectors write into gaps is said wherever it is taken as values, and how to leave it out
npy() { # DTYPE COUNT; bytes follow
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': (4, $2)}"
}
{ npy '<u4' 2; printf '\5\0\0\0\6\0\0\0\7\0\0\0\377\377\377\377\6\0\0\0\5\0\0\0\6\0\0\0\7\0\0\0'; } >u4.npy
{ npy '<i4' 2; printf '\5\0\0\0\6\0\0\0\7\0\0\0\377\377\377\377\6\0\0\0\5\0\0\0\6\0\0\0\7\0\0\0'; } >i4.npy
{ npy '<i2' 2; printf '\5\0\6\0\7\0\375\377\6\0\5\0\377\377\7\0'; } >low.npy # -3 and -1: numbers
{ npy '<u2' 2; printf '\5\0\6\0\7\0\377\377\6\0\5\0\6\0\7\0'; } >u2.npy
$airy compress u2.npy -o u2.h5 --quiet || $airy convert u2.npy -o u2.h5 --quiet
for image in u4 i4 low u2; do
    $airy label $image.npy >/dev/null
    $airy label $image.npy --above 0 >/dev/null
done
$airy label u4.npy --dummy=4294967295 >/dev/null
$airy label i4.npy --mask i4.npy >/dev/null
$airy sources u4.npy 2>&1 >/dev/null | grep 'which [cd]'
$airy sources i4.npy 2>&1 >/dev/null | grep 'which [cd]'
$airy sources u4.npy --method simple 2>&1 >/dev/null | grep 'which [cd]'
$airy sources u4.npy --dummy=4294967295 2>&1 >/dev/null | grep 'which [cd]'
for image in u4 i4 low u2; do
    $airy blur $image.npy --sigma 1 -o b.npy --force 2>&1 | grep 'which [cd]'
    $airy convolve $image.npy --kernel low.npy -o c.npy --force 2>&1 | grep 'which [cd]'
    $airy filter median $image.npy --size 3 -o m.npy --force 2>&1 | grep 'which [cd]'
done
# hampel takes such values out
$airy filter hampel u4.npy --size 3 -o h.npy 2>&1 | grep 'which [cd]'
# the same in another container
$airy stats u2.h5 2>&1 >/dev/null | grep 'which [cd]'
$airy label u2.h5 2>&1 >/dev/null | grep 'which [cd]'
$airy blur u2.h5 --sigma 1,1 -o b.h5 2>&1 | grep 'which [cd]'
exit 0

# gaps of a detector in commands on images: counted, which is said, and left out by their value as by a mask
$airy simulate diffraction gaps.h5 --detector pilatus_300k --frames 1 --gaps --quiet || exit 1
$airy convert gaps.h5 -o u4.npy --quiet && $airy convert gaps.h5::/entry/instrument/detector/pixel_mask -o mask.npy --quiet || exit 1
for command in stats clip sources; do
    $airy $command u4.npy --mask mask.npy --quiet >masked && $airy $command u4.npy --dummy 4294967295 --quiet >dummy || exit 1
    cmp masked dummy && grep '"masked"' dummy
done
$airy stats u4.npy | grep '"max"'
# i4: 5, -1, 7, -2, 9, 11, of which pictures show the last four alone
{ printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3)}"
    printf '\005\0\0\0\377\377\377\377\007\0\0\0\376\377\377\377\011\0\0\0\013\0\0\0'; } >i4.npy
$airy stats i4.npy | grep -E '"(count|min)"'
$airy clip i4.npy | grep '"count"'
$airy stats i4.npy --dummy=-2 --delta-dummy 1 | grep -E '"(count|masked|min)"'
$airy stats i4.npy --dummy=-1 | grep '"min"'
$airy view i4.npy -o all.png --json | grep -A3 limits
$airy view i4.npy -o good.png --dummy -2 --delta-dummy 1 --json | grep -A3 limits
# u8: 5, 2^64 - 1, 7
{ printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '<u8', 'fortran_order': False, 'shape': (1, 3)}"
    printf '\005\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377\007\0\0\0\0\0\0\0'; } >u8.npy
$airy stats u8.npy | grep '"count"'
$airy stats u8.npy --dummy=18446744073709551615 --delta-dummy 2 | grep -E '"(count|masked|max)"'
for command in stats clip sources 'view -o x.png'; do $airy $command i4.npy --delta-dummy 1; echo $?; done
$airy sources i4.npy --method simple --dummy 1; echo $?

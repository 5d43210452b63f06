# gaps of a detector in commands on images: counted, which is said, and left out by their value as by a mask
. "$cli/check.sh"
$airy simulate diffraction gaps.h5 --detector pilatus_300k --frames 1 --gaps --quiet || exit 1
$airy convert gaps.h5 -o u4.npy --quiet && $airy convert gaps.h5::/entry/instrument/detector/pixel_mask -o mask.npy --quiet || exit 1
for command in stats clip sources; do
    expect "$command leaves out gaps by their value as by a mask"
    $airy $command u4.npy --mask mask.npy --quiet >masked && $airy $command u4.npy --dummy 4294967295 --quiet >dummy || exit 1
    cmp masked dummy && grep '"masked"' dummy
done
expect 'a value of gaps has a warning'
$airy stats u4.npy | grep '"max"'
# i4: 5, -1, 7, -2, 9, 11, of which pictures show the last four alone
{ printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3)}"
    printf '\005\0\0\0\377\377\377\377\007\0\0\0\376\377\377\377\011\0\0\0\013\0\0\0'; } >i4.npy
expect 'stats counts negative values with a warning'
$airy stats i4.npy | grep -E '"(count|min)"'
expect 'clip counts negative values with a warning'
$airy clip i4.npy | grep '"count"'
expect 'stats leaves out a value and what is near it'
$airy stats i4.npy --dummy=-2 --delta-dummy 1 | grep -E '"(count|masked|min)"'
expect 'stats leaves out one value'
$airy stats i4.npy --dummy=-1 | grep '"min"'
expect 'a picture shows the values of gaps'
$airy view i4.npy -o all.png --json | grep -A3 limits
expect 'a picture leaves out a value and what is near it'
$airy view i4.npy -o good.png --dummy -2 --delta-dummy 1 --json | grep -A3 limits
# u8: 5, 2^64 - 1, 7
{ printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '<u8', 'fortran_order': False, 'shape': (1, 3)}"
    printf '\005\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377\007\0\0\0\0\0\0\0'; } >u8.npy
expect 'the largest value of 64 bits has a warning'
$airy stats u8.npy | grep '"count"'
expect 'the largest value of 64 bits is left out exactly'
$airy stats u8.npy --dummy=18446744073709551615 --delta-dummy 2 | grep -E '"(count|masked|max)"'
for command in stats clip sources 'view -o x.png'; do
    expect "a tolerance of $command needs a dummy value"
    $airy $command i4.npy --delta-dummy 1
    echo $?
done
expect 'the simple method takes no dummy value'
$airy sources i4.npy --method simple --dummy 1; echo $?
# f4: -999.9, 5, -999.9, 7: the float32 nearest to what is written is meant, in f8 the number itself
{ printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}"
    printf '\232\371\171\304\0\0\240\100\232\371\171\304\0\0\340\100'; } >f4.npy
expect 'stats leaves out the float nearest to the number'
$airy stats f4.npy --dummy=-999.9 | grep -E '"(masked|min)"'
expect 'stats of each plane leaves out the float nearest to the number'
$airy stats f4.npy --each --dummy=-999.9 | grep -E '"(masked|min)"'
expect 'clip leaves out floats within a tolerance'
$airy clip f4.npy --dummy=-999 --delta-dummy 0.9001 | grep '"masked"'
expect 'a picture leaves out the float nearest to the number'
$airy view f4.npy -o good.png --dummy=-999.9 --force --json | grep -A3 limits
expect 'label leaves out the float nearest to the number'
$airy label f4.npy --dummy=-999.9 | tr -d ' \n'
echo
# what leaves out nothing is said once, a type that has no such value too; of the largest float32 it is one
expect 'label warns of a float that no pixel has'
$airy label f4.npy --dummy=3.4028235e38 | tr -d ' \n'
echo
expect 'stats warns of a float that no pixel has'
$airy stats f4.npy --each --dummy=-999.8 >/dev/null
expect 'stats warns of a value that the type does not have'
$airy stats gaps.h5 --each --frames 0 --dummy=-1 >/dev/null
expect 'sources warns of a value that the type does not have'
$airy sources u4.npy --dummy=-1 --delta-dummy 0.5 2>&1 >/dev/null | grep dummy
expect 'clip warns of a value that the type does not have'
$airy clip i4.npy --dummy=1.5 >/dev/null
expect 'view warns of a value that the type does not have'
$airy view u4.npy -o none.png --dummy=-1 2>&1 | grep dummy
expect 'integrate warns of a value that the type does not have'
$airy integrate $small -o none.h5 --poni ${small%.h5}.poni --dummy=-1 2>&1 | grep dummy=
expect 'integrate does not warn of a value that pixels have'
$airy integrate $small -o some.h5 --poni ${small%.h5}.poni --dummy=3 2>&1 | grep dummy=
expect 'integrate warns of a value that no pixel has'
$airy integrate $small -o few.h5 --poni ${small%.h5}.poni --dummy=7000000 2>&1 | grep dummy=

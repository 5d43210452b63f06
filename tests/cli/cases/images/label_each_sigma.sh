# each plane of a cube has a threshold of its own: labels, measures and numbers are those of the plane alone
npy() { # SHAPE; bytes follow
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': ($1)}"
}
quiet='\0\1\0\1\0\1\0\2\0\1\0\1\0\1\0\11'
loud='\0\20\0\20\0\20\0\20\0\20\100\20\0\20\0\220'
blank='\5\5\5\5\5\5\5\5\5\5\5\5\5\5\5\5'
{ npy '3, 2, 8' && printf "$quiet$loud$blank"; } >cube.npy
{ npy '2, 8' && printf "$quiet"; } >0.npy
{ npy '2, 8' && printf "$loud"; } >1.npy
{ npy '2, 8' && printf "$blank"; } >2.npy
{ npy '2, 8' && printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1'; } >mask.npy
for mask in '' '--mask mask.npy'; do
    $airy label cube.npy --each --sigma 2.5 $mask --table t.csv -o l.npy --force >cube.json || exit 1
    tr -d ' \n' <cube.json
    echo
    sed 1d t.csv >rows
    for plane in 0 1; do
        $airy label $plane.npy --sigma 2.5 $mask --table alone.csv -o a.npy --force --quiet >alone.json || exit 2
        tr -d ' \n' <alone.json
        echo
        sed "1d; s/^/$plane,/" alone.csv
        tail -c +$((129 + 64 * plane)) l.npy | head -c 64 >x; tail -c 64 a.npy | cmp - x || exit 3
    done | tee numbers | grep -v '^{'
    grep -v '^{' numbers | cmp - rows || exit 4
    grep '^{' numbers
done
$airy label 2.npy --sigma 2.5

# each plane by itself gives what the plane alone gives, with masks too; a stack of counts, and one plane, which are two axes
bytes='the first one here; the second it is. the rest of them, too.'
npy() { # SHAPE FROM COUNT
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': ($1)}"
    printf %s "$bytes" | tail -c +$(($2 + 1)) | head -c $3
}
npy '2, 2, 3, 4' 0 48 >cube.npy
npy '3, 4' 24 12 >two.npy
{ npy '3, 4' 0 0; printf '\1\0\0\0\0\0\0\0\0\0\0\1'; } >mask.npy
for command in "stats --mad --quantiles 25,75" clip "clip --spread mad --kappa 1"; do
    set -- $command
    name=$1
    shift
    $airy $name cube.npy --each "$@" >cube.json || exit 1
    $airy $name two.npy "$@" >two.json || exit 2
    tr -d ' \n' <two.json >two
    tr -d ' \n' <cube.json | grep -cF -f two
    grep -c '"count"' cube.json
    $airy $name two.npy --each "$@" | tr -d ' \n' >one
    test "$(cat one)" = "{\"planes\":[$(cat two)]}" || exit 3
done
$airy stats cube.npy --each --mask mask.npy | grep -c '"masked": 2'
npy '48,' 0 48 >line.npy
$airy stats line.npy --each; echo $?
exit 0

# planes of a stack are read some at a time: the same numbers from less memory than the stack has, and of some frames
$airy convert $small -o all.npy --quiet && $airy convert $small --frames 1:8:3 -o some.npy --quiet || exit 1
{ printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (195, 487)}"
    head -c 30000 /dev/zero | tr '\0' '\1'; head -c 64965 /dev/zero; } >mask.npy
for command in "stats --mad --quantiles 25,75 --histogram 4" clip "clip --spread mad"; do
    set -- $command
    name=$1
    shift
    for mask in '' '--mask mask.npy' '--dummy 3 --delta-dummy 2'; do
        $airy $name all.npy --each "$@" $mask --quiet >whole.json || exit 2
        # 8 frames of 0.4 MB, twice each, and what is needed beside
        $airy $name $small --each "$@" $mask --quiet --memory-limit 3M | cmp - whole.json || exit 3
        for from in "some.npy" "$small --frames 1:8:3" "all.npy --frames 1:8:3"; do
            for each in '' --each; do
                $airy $name $from $each "$@" $mask --quiet >"some$each" && grep -c '"count"' "some$each" || exit 4
                [ "$from" = some.npy ] && cp "some$each" "want$each"
                cmp "some$each" "want$each" || exit 5
            done
        done
    done
done | sort | uniq -c | tr -s ' '
$airy stats $small --frames 5 --quiet >one && $airy stats $small --frames 5 --each --quiet | tr -d ' \n' >each && [ "$(cat each)" = "{\"planes\":[$(tr -d ' \n' <one)]}" ] || exit 6
# a limit is one, however small: one plane is tried
for limit in 1 3 4; do ! $airy stats $small --each --memory-limit $limit 2>said && grep -q '379860 bytes' said || { cat said; exit 7; }; done
$airy stats $small --each --frames 3:9; echo $?
$airy clip all.npy --frames 8; echo $?
$airy clip $small --each --mask some.npy; echo $?
{ printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}"; printf abc; } >line.npy
$airy stats line.npy --frames 0; echo $?
$airy clip $small --each --mask line.npy; echo $?

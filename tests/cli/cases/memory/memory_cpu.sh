# On the CPU the matrix and the slots are in one memory under one limit, and --explain ends as the run does.
grep -q -e __asan_init -e __tsan_init "$airy" && { echo "a limit of memory leaves a sanitizer no room" >&2; exit 77; }
run() {
    $airy integrate $small --threads 2 --memory-limit "$1" -o r.h5 --force --quiet 2>said
    code=$?
    $airy integrate $small --threads 2 --memory-limit "$1" --explain >plan 2>explained
    [ $? = $code ]
}
$airy integrate $small --explain --json >plan.json || exit 1
matrix=$(($(sed -n 's/.*"matrix_host_bytes": *\([0-9]*\).*/\1/p' plan.json) + $(sed -n 's/.*"matrix_device_bytes": *\([0-9]*\).*/\1/p' plan.json)))
[ $matrix -gt 1000000 ] || { cat plan.json >&2; exit 2; }
run $((matrix - 1)) && [ $code = 1 ] && grep -q "for the matrix of 1000 bins and 195 x 487 pixels: it needs $matrix bytes, limit $((matrix - 1)), in use 0; raise --memory-limit, use fewer --bins, split pixels less by --split no, or choose another --device\$" said || { cat said explained >&2; exit 3; }
run $((matrix + 100000)) && [ $code = 1 ] && grep -q 'batches of 1 frame in .* slots\? and a thread need [0-9]* bytes of cpu .* limit of [0-9]* .*; raise --memory-limit, use fewer --bins, ' said || { cat said explained >&2; exit 4; }
run $((matrix + 20000000)) && [ $code = 0 ] || { cat said explained >&2; exit 5; }
! grep -q 'rate  *unknown' plan || { cat plan >&2; exit 6; }
$airy convert $small -o all.npy --memory-limit 1M 2>said
[ $? = 1 ] && [ ! -e all.npy ] && grep -q -e '--memory-limit 1048576: an image of 3038880 bytes is larger; raise the limit, or choose fewer of its frames$' said || { cat said >&2; exit 7; }
$airy convert $small -o all.npy --memory-limit 32M --quiet
# What the matrix needs is known to be too much before it is made; without splitting nothing advises less of it. Planes can be taken one by one.
$airy integrate $small --memory-limit 100K --split no -o n.h5 --quiet 2>said
grep -q 'it needs more than 854685 bytes, limit 102400, in use 0; raise --memory-limit, use fewer --bins, or choose another --device$' said || { cat said >&2; exit 8; }
$airy stats $small --memory-limit 1M --quiet 2>said
grep -q 'wanted 3038880 bytes, in use 0, limit 1048576, .*; take fewer planes at a time by --each or --frames=A:B; raise --memory-limit' said || { cat said >&2; exit 9; }

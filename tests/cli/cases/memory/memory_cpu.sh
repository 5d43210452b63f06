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
run $((matrix - 1)) && [ $code = 1 ] && grep -q 'for the matrix: wanted' said || { cat said explained >&2; exit 3; }
run $((matrix + 100000)) && [ $code = 1 ] && grep -q 'limit' said || { cat said explained >&2; exit 4; }
run $((matrix + 20000000)) && [ $code = 0 ] || { cat said explained >&2; exit 5; }
! grep -q 'rate  *unknown' plan || { cat plan >&2; exit 6; }
$airy convert $small -o all.npy --memory-limit 1M 2>said
[ $? = 1 ] && [ ! -e all.npy ] && grep -q 'image.*; raise --memory-limit$' said || { cat said >&2; exit 7; }
$airy convert $small -o all.npy --memory-limit 32M --quiet

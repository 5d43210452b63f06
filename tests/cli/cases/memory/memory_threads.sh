# A limit that holds no scratch for all threads makes fewer of them work, to the same results, and a plan that fits runs to its end.
grep -q -e __asan_init -e __tsan_init "$airy" && { echo "a limit of memory leaves a sanitizer no room" >&2; exit 77; }
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 64 --write-poni s.poni --quiet || exit 1
for model in none azimuthal; do
    run() { "$airy" integrate s.h5 --poni s.poni --error-model $model --force "$@"; }
    run -o all.h5 --quiet || exit 2
    run --threads 64 --memory-limit 10M -o few.h5 2>said || { cat said >&2; exit 3; }
    grep -q '^airy integrate: --memory-limit=[0-9]* left room for [0-9]* of 64 threads of cpu$' said || { cat said >&2; exit 4; }
    $airy diff all.h5 few.h5 >/dev/null || exit 5
    for limit in 8M 10M 14M 20M; do
        run --threads 4 --memory-limit $limit -o few.h5 --quiet || exit 6
    done
done
run --threads 4 -o all.h5 2>said && ! grep room said

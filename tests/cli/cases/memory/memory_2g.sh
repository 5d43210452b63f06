# --memory-limit 2G holds for frames of 4 and 16 megapixels, as --explain says it before
grep -q -e __asan_init -e __tsan_init "$airy" && { echo 'a sanitizer keeps what was freed' >&2; exit 77; }
limit=2147483648
for detector in eiger_4M eiger_16M; do
    $airy simulate diffraction s.h5 --detector $detector --frames 6 --same-frame --quiet --force || exit 1
    $airy integrate s.h5 s.h5 s.h5 --memory-limit 2G --explain --json >plan.json || exit 2
    for key in matrix_host_bytes slots_host_bytes matrix_device_bytes slots_device_bytes; do
        bytes=$(sed -n "s/.*\"$key\": \([0-9]*\).*/\1/p" plan.json)
        [ "$bytes" -gt 0 ] && [ "$bytes" -lt $limit ] || { cat plan.json >&2; exit 3; }
    done
    $helper peak "$airy" integrate s.h5 s.h5 s.h5 --memory-limit 2G --threads 4 -o r.h5 --force --quiet >peak || exit 4
    [ "$(cut -d' ' -f1 peak)" -lt $limit ] || { cat peak >&2; exit 5; }
done

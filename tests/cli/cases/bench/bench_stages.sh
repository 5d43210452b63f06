# Each stage has a figure or says why not; a file in memory is never called cold.
TMPDIR=$PWD
export TMPDIR
$airy bench stages "$small" --seconds 0.01 --quiet --threads 2 --table >rows || exit 1
[ "$(grep -c ', cached ' rows)" = 4 ] && [ "$(grep -c ', cold ' rows)" = 4 ] || exit 2
grep -q '^decode  *small.h5  *cpu  *[0-9]' rows || exit 3
grep ', cached ' rows | grep -v 'frames/s  *[0-9]' && exit 4
[ "$(grep -A 1 '^read.*, cached ' rows | grep -c '; 2 threads read$')" -ge 2 ] || exit 4
$airy bench stages --case 4M,16M --plot x.png 2>err
[ $? = 2 ] && grep -q 'draws one case' err || exit 5
rm err
if command -v gnuplot >/dev/null; then
    $airy bench stages "$small" --seconds 0.01 --quiet --plot stages.svg >rows || exit 6
    grep -q '<svg' stages.svg && rm stages.svg || exit 7
fi
rm rows
[ -z "$(ls)" ] || exit 8
shared=$(mktemp -d /dev/shm/airy-cli-XXXXXX 2>/dev/null) || exit 0
trap 'rm -rf "$shared"' EXIT
[ "$(stat -f -c %T "$shared")" = tmpfs ] || exit 0
cp "$small" "$shared/s.h5"
$airy bench stages "$shared/s.h5" --seconds 0.01 --quiet --table >rows || exit 9
[ "$(grep -A 1 ', cold ' rows | grep -c 'stayed in memory')" = 4 ] || exit 10

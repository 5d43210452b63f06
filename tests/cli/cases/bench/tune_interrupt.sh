# Ctrl-C while measuring: the old table holds
. "$cli/await.sh"
AIRY_CACHE_DIR=$PWD/cache TMPDIR=$PWD/tmp
export AIRY_CACHE_DIR TMPDIR
mkdir tmp
$airy tune --set pipeline.slots=5 --quiet >/dev/null || exit 1
cp cache/*.tune before
$airy tune --detector pilatus_100k --seconds 60 >out 2>err &
process=$!
measures() { [ -e "$(echo tmp/airy-bench-*/tune.h5)" ] && catches $process; } # what it measures is made
await measures || exit 3
sleep 0.3
kill -INT $process
wait $process
[ $? = 1 ] && grep -q '^airy tune: cancelled' err || { cat err >&2; exit 2; }
[ ! -s out ] && cmp -s before cache/*.tune && [ -z "$(ls tmp)" ] || exit 4
# and while it makes what it will measure: the same, and in one line
for command in tune 'bench decode --case 16M'; do
    case $command in tune) set -- --detector eiger_16M ;; *) set -- ;; esac
    $airy $command "$@" --threads 1 --seconds 60 >out 2>err &
    process=$!
    makes() { [ -d "$(echo tmp/airy-bench-*)" ] && catches $process; }
    await makes || exit 5
    kill -INT $process
    wait $process
    [ $? = 1 ] && [ "$(grep -vc 'on device' err)" = 1 ] && grep -q ': cancelled; ' err && [ -z "$(ls tmp)" ] || { cat err >&2; exit 6; }
done

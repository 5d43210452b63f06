# Ctrl-C while measuring: the old table holds
. "$(dirname "$0")/../await.sh"
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
[ $? = 1 ] && grep -q '^airy tune: stopped' err || { cat err >&2; exit 2; }
[ ! -s out ] && cmp -s before cache/*.tune && [ -z "$(ls tmp)" ]

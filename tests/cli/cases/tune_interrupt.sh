# Ctrl-C while measuring: the old table holds
AIRY_CACHE_DIR=$PWD/cache TMPDIR=$PWD/tmp
export AIRY_CACHE_DIR TMPDIR
mkdir tmp
$airy tune --set pipeline.slots=5 --quiet >/dev/null || exit 1
cp cache/*.tune before
$airy tune --detector pilatus_100k --seconds 60 >out 2>err &
process=$!
n=0
while [ -z "$(ls tmp)" ] && [ $n -lt 6000 ]; do
    sleep 0.01
    n=$((n + 1))
done
sleep 0.3
kill -INT $process
wait $process
[ $? = 1 ] && grep -q '^airy tune: stopped' err || { cat err >&2; exit 2; }
[ ! -s out ] && cmp -s before cache/*.tune && [ -z "$(ls tmp)" ]

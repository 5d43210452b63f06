# all sizes are measured and kept; a sweep keeps nothing; both leave nothing behind in TMPDIR
AIRY_CACHE_DIR=$PWD/cache TMPDIR=$PWD/tmp
export AIRY_CACHE_DIR TMPDIR
mkdir tmp
$airy tune --sweep pipeline.slots --detector pilatus_100k --seconds 0.1 --quiet >text || exit 1
for key in times value usable runs median_ms p10_ms p90_ms kernels before_ms after_ms gain taken_back; do
    grep -q "\"$key\": " text || exit 2
done
[ ! -e cache ] || exit 3
$airy tune --set pipeline.slots=16 --quiet >/dev/null || exit 4
$airy tune --detector pilatus_100k --seconds 0.1 --table --quiet >text || exit 5
grep -q '^a whole run ' text && grep -q '^pipeline.readers (threads)' text || exit 6
$airy tune --show --table | grep -q '^pipeline.slots .* 16 .* set ' || exit 7 # what was set by hand stays
$airy tune --set pipeline.readers=5 --quiet >/dev/null || exit 8
$airy tune --sweep pipeline.readers --detector pilatus_100k --seconds 0.1 --table --quiet | grep -q '^pipeline.readers .* set ' || exit 9
$airy tune pipeline.slots --detector pilatus_100k --seconds 0.1 --quiet >/dev/null || exit 10 # unless it is named
$airy tune --show --table | grep -q '^pipeline.slots .* set ' && exit 11
[ -z "$(ls tmp)" ]

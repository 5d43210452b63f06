# a folder that cannot be: said where something should be kept, and nothing else minds
echo >file
AIRY_CACHE_DIR=$PWD/file/cache
export AIRY_CACHE_DIR
$airy tune --set pipeline.slots=5 >out 2>err
[ $? = 1 ] && grep -q '^airy tune: the table cannot be kept in .*/file/cache/.*: Not a directory' err || exit 1
$airy tune pipeline.slots --detector pilatus_100k --seconds 0.1 >out 2>err
[ $? = 1 ] && grep -q 'cannot be kept' err && grep -q median_ms out || exit 2
$airy tune --show --table | grep -q '^pipeline.slots .* default ' || exit 3
$airy integrate $small -o a.h5 --quiet

# a value set by hand is kept, used, and forgotten
AIRY_CACHE_DIR=$PWD/cache
export AIRY_CACHE_DIR
current() { $airy tune --show --table | awk -v name="$1" '$1 == name { print $5, $7 }'; }
$airy tune --set pipeline.slots=5 --set pipeline.readers=1 --quiet >/dev/null || exit 1
[ "$(current pipeline.slots)" = '5 set' ] && [ "$(current pipeline.readers)" = '1 set' ] || exit 2
$airy integrate $small -o a.h5 --verbose 2>err || exit 3
[ "$(find cache -type f | wc -l)" = 1 ] || exit 4
# results do not depend on it
AIRY_CACHE_DIR=none $airy integrate $small -o b.h5 --quiet && $airy diff a.h5 b.h5 >/dev/null || exit 5
$airy tune --set pipeline.slots=default --quiet >/dev/null || exit 6
[ "$(current pipeline.slots)" = '3 default' ] && [ "$(current pipeline.readers)" = '1 set' ] || exit 7
$airy tune --set pipeline.readers=default --quiet >/dev/null || exit 8
[ "$(find cache -type f | wc -l)" = 0 ] || exit 9

# the cache keeps the tables of so many devices: those that were not used for the longest time go, and nothing else
AIRY_CACHE_DIR=$PWD/cache
export AIRY_CACHE_DIR
mkdir cache
for i in $(seq -w 100 169); do
    : >cache/0123456789abc$i.tune
    touch -d "2001-01-01 00:00:00 $i minutes" cache/0123456789abc$i.tune
done
: >cache/notes.tune
touch -d 2000-01-01 cache/notes.tune
$airy tune --set pipeline.slots=5 --quiet >/dev/null || exit 1
[ "$(ls cache | grep -c '^[0-9a-f]*\.tune$')" = 64 ] && [ -e cache/notes.tune ] || { ls cache >&2; exit 2; }
[ ! -e cache/0123456789abc106.tune ] && [ -e cache/0123456789abc107.tune ] || { ls cache >&2; exit 3; }
$airy tune --show --table | awk '$1 == "pipeline.slots" { print $5, $7 }' | grep -qx '5 set'

# a table that is cut, changed, a link, or of another driver: the defaults hold, and a new one takes its place
AIRY_CACHE_DIR=$PWD/cache
export AIRY_CACHE_DIR
current() { $airy tune --show --table | awk '$1 == "pipeline.slots" { print $5, $7 }'; }
standard=$(current)
$airy tune --set pipeline.slots=5 --quiet >/dev/null || exit 1
table=$(ls cache/*.tune)
cp "$table" whole
for bytes in 0 7 39 40 60; do
    head -c $bytes whole >"$table"
    [ "$(current)" = "$standard" ] || exit 2
done
tr 5 6 <whole >"$table"
[ "$(current)" = "$standard" ] || exit 3
head -c 100000 /dev/zero >"$table"
[ "$(current)" = "$standard" ] || exit 4
AIRY_LOG=debug $airy tune --show 2>&1 >/dev/null | grep -q 'stale, damaged or of another user: not used' || exit 5
rm "$table" && ln -s ../whole "$table"
[ "$(current)" = "$standard" ] || exit 6
rm "$table" && mkdir "$table"
[ "$(current)" = "$standard" ] || exit 7
rmdir "$table" && cp whole "$table"
[ "$(current)" = '5 set' ] || exit 8
# the mask of instruction sets is part of the CPU's driver
[ "$(AIRY_CPU=portable current)" = "$standard" ] || exit 9
AIRY_CPU=portable $airy tune --set pipeline.slots=6 --quiet >/dev/null || exit 10
[ "$(current)" = "$standard" ] && [ "$(AIRY_CPU=portable current)" = '6 set' ]

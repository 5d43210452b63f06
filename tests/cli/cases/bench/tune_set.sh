# a value set by hand is kept, used, and forgotten
AIRY_CACHE_DIR=$PWD/cache
export AIRY_CACHE_DIR
current() { $airy tune --show --table | awk -v name="$1" '$1 == name { print $5, $7 }'; }
slots=$(current pipeline.slots | cut -d ' ' -f 1)
$airy tune --set pipeline.slots=5 --set pipeline.readers=1 --quiet >/dev/null || exit 1
[ "$(current pipeline.slots)" = '5 set' ] && [ "$(current pipeline.readers)" = '1 set' ] || exit 2
$airy integrate $small -o a.h5 --verbose 2>err && grep -q 'tuning of cpu: pipeline.slots = 5 (set), pipeline.readers = 1 (set)' err || exit 3
[ "$(find cache -type f | wc -l)" = 1 ] || exit 4
# readers are those of the device, whatever lanes share them
for readers in 1 3; do
    $airy tune --set pipeline.readers=$readers --quiet >/dev/null || exit 20
    $airy integrate $small --batch 1 --layout threads --explain | grep -q " $readers readers\?\$" || exit 21
done
$airy tune --set pipeline.readers=1 --quiet >/dev/null || exit 22
# results do not depend on it
AIRY_CACHE_DIR=none $airy integrate $small -o b.h5 --quiet && $airy diff a.h5 b.h5 >/dev/null || exit 5
for sizes in 'pipeline.slots=1 pipeline.readers=1 pipeline.batch_frames=1' 'pipeline.slots=16 pipeline.readers=256 pipeline.batch_frames=256'; do
    for size in $sizes; do
        $airy tune --set $size --quiet >/dev/null || exit 10
    done
    $airy integrate $small -o c.h5 --force --quiet && $airy diff a.h5 c.h5 >/dev/null || exit 11
done
$airy tune --set pipeline.batch_frames=default --set pipeline.readers=1 --quiet >/dev/null || exit 12
$airy tune --set pipeline.slots=default --quiet >/dev/null || exit 6
[ "$(current pipeline.slots)" = "$slots default" ] && [ "$(current pipeline.readers)" = '1 set' ] || exit 7
$airy tune --set pipeline.readers=default --quiet >/dev/null || exit 8
[ "$(find cache -type f | wc -l)" = 0 ] || exit 9

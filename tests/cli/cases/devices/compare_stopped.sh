# a signal ends the runs of both devices of a command that is no job, and none of their files stays
. "$cli/await.sh"
$airy simulate sky a.npy --height 2400 --width 2400 --quiet || exit 1
mkdir w
default=
env --default-signal=INT,HUP true 2>/dev/null && default='env --default-signal=INT,HUP'
for name in TERM ${default:+INT HUP}; do
    $default $airy sources a.npy --threads 1 --compare cpu,cpu --segmentation w/c.npy --quiet >out 2>&1 &
    process=$!
    one_done() { [ -e w/.compare-$process-0-c.npy ]; }
    await one_done || exit 2
    child=$(cat /proc/$process/task/$process/children)
    kill -$name $process 2>/dev/null
    wait $process
    code=$?
    [ $code = 0 ] && { echo 'the runs were too short to stop' >&2; exit 77; }
    [ $code -gt 128 ] && [ -z "$(ls -A w)" ] && [ ! -s out ] && [ ! -e "/proc/${child% }" ] ||
        { echo "SIG$name: exit code $code" && cat out && ls -A w && exit 3; } >&2
done
# in the middle of a write, too
$airy sources a.npy --threads 1 --compare cpu,cpu --segmentation w/c.npy --quiet >out 2>&1 &
process=$!
await one_done || exit 4
: >w/.compare-$process-1-c.npy.00000000.partial
: >w/.compare-${process}0-0-c.npy
kill $process 2>/dev/null
wait $process
[ "$(ls -A w)" = ".compare-${process}0-0-c.npy" ]

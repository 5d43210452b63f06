# a signal ends a comparison, and none of its files is there
$airy simulate sky a.npy --height 1200 --width 1200 --quiet || exit 1
mkdir w
default=
env --default-signal=INT,HUP true 2>/dev/null && default='env --default-signal=INT,HUP'
for name in TERM ${default:+INT HUP}; do
    $default $airy filter median a.npy --footprint ball=12 --threads 1 --compare cpu,cpu -o w/c.npy >out 2>&1 &
    process=$!
    sleep 0.4
    kill -$name $process 2>/dev/null
    wait $process
    code=$?
    [ $code = 0 ] && { echo 'the runs were too short to stop' >&2; exit 77; }
    [ $code -gt 128 ] && [ -z "$(ls -A w)" ] && grep -q 'airy filter: cancelled; nothing was written' out ||
        { echo "SIG$name: exit code $code" && cat out && ls -A w && exit 3; } >&2
done

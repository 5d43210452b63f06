case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
. "$cli/await.sh"
# 60 images at 100 a second take 0.59 s: a clock, no sum of sleeps
timeout 120 $helper pull --count ipc://a >all &
$airy stream $small --to ipc://a --loop 10 --frames 0:6 --rate 100 --json >report || exit 1
wait $! || exit 2
cut -d, -f1 all
awk -F'[:,]' '/"seconds"/ { exit !($2 >= 0.59 && $2 < 20) }' report || exit 3
# nobody: given up, by --patience and by a signal
$airy stream $small --to ipc://b --patience 0.2
echo "exit $?"
$airy stream $small --to ipc://c 2>said &
await grep -q "waiting for a receiver" said
kill -INT $!
wait $!
echo "exit $?"
grep -c 'waiting for a receiver at ipc://c' said
grep -o 'cancelled' said

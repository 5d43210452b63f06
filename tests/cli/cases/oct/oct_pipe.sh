# a pipe that ends inside a frame, and one that falls silent
. "$cli/await.sh"
echo '{"samples": 64, "lines": 6, "dtype": "u16"}' >plan.json
$airy simulate oct m.raw --samples 64 --lines 6 --frames 3 --quiet || exit 1
same() { $airy diff "$1" "$2" --quiet >/dev/null && echo same || echo "$1 and $2 differ"; }
$airy oct m.raw --plan plan.json -o want.npy --frames 0:2 --quiet >/dev/null || exit 2
head -c 2000 m.raw | $airy oct - --plan plan.json -o cut.npy --quiet | grep frames
same cut.npy want.npy
head -c 2000 m.raw | $airy oct - --plan plan.json -o live.npy --line-rate 1000 --quiet >/dev/null; echo $?
same live.npy want.npy
mkfifo silent
$helper feed silent m.raw 1600 >taken &
writer=$!
$airy oct silent --plan plan.json -o kept.npy --quiet >/dev/null &
reader=$!
await test -s taken || exit 3
kill -INT $reader
wait $reader; echo $?
kill $writer
same kept.npy want.npy
ls | grep -c partial
true

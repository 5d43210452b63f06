# frames as a camera brings them: again and again, at a rate, too fast, through a ring
. "$cli/await.sh"
. "$cli/check.sh"
export AIRY_DEVICE=cpu
cat >plan.json <<END
{"samples": 256, "lines": 16, "dtype": "u16", "background": "mean", "window": "hann"}
END
$airy simulate oct t.raw --samples 256 --lines 16 --frames 4 --quiet || exit 1
for i in 1 2 3; do cat t.raw; done >thrice.raw
$airy oct thrice.raw --plan plan.json -o want.npy --quiet >/dev/null || exit 2
same() { $airy diff "$1" "$2" --quiet >/dev/null && echo same || echo "$1 and $2 differ"; }
expect 'frames that come again and again have the results of a longer file'
$airy oct t.raw --plan plan.json --repeat 3 -o a.npy --quiet >/dev/null && same a.npy want.npy
expect 'other batches and buffers have the same results'
$airy oct t.raw --plan plan.json --repeat 3 --batch 5 --buffers 2 -o b.npy --quiet >/dev/null && same b.npy want.npy
# 31 frames a second and 16 buffers lose nothing, unless this machine stands still for a sixth of a second: then once more
expect 'frames at a rate of lines have the same results'
for try in 1 2 3 4 5 6 7 8 9 10; do
    $airy oct t.raw --plan plan.json --repeat 3 --line-rate 500 -o c.npy --force --quiet >camera
    grep -q ' 0 dropped' camera && break
done
same c.npy want.npy
expect 'frames at a rate of lines are not dropped'
for try in 1 2 3 4 5 6 7 8 9 10; do # nothing is written
    $airy oct t.raw --plan plan.json --repeat 1s --line-rate 500 --quiet >camera
    grep -q ' 0 dropped' camera && break
done
sed -n 's/^camera *[0-9]* frames in, [0-9]* out/camera/p' camera
expect 'each frame that is too fast is counted as dropped'
value() { sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p" "$2"; }
$airy oct t.raw --plan plan.json --repeat 100000 --line-rate 1e9 --json --quiet >fast.json || exit 3
[ $(($(value in fast.json) + $(value dropped fast.json))) = 400000 ] && [ "$(value dropped fast.json)" -gt 0 ] &&
    [ "$(value in fast.json)" = "$(value out fast.json)" ] && echo counted
expect 'frames of another process have the same results'
name=cli-$$
$airy oct ring:$name --plan plan.json -o d.npy --quiet >/dev/null &
$airy oct t.raw --plan plan.json --feed $name --repeat 3 --quiet >feed.json || exit 4
wait $! && same d.npy want.npy
grep -e '"given"' -e '"dropped"' feed.json
# a consumer that stands still: the producer goes on, and what it dropped is missed at the other end. One that this machine held up
# meanwhile drops nothing: then for longer.
expect 'frames that a consumer missed are counted at both ends'
follows() { grep -q "airy-$name" /proc/$consumer/maps && catches $producer; }
for still in 0.3 1 3 9; do
    $airy oct t.raw --plan plan.json --feed $name --repeat 1500s --line-rate 16000 --quiet >feed.json &
    producer=$!
    $airy oct ring:$name --plan plan.json --json --quiet >ring.json &
    consumer=$!
    await follows || exit 6
    kill -STOP $consumer
    sleep $still
    kill -CONT $consumer
    kill -INT $producer
    wait $producer && wait $consumer || exit 5
    [ "$(value dropped feed.json)" = 0 ] || break
done
[ "$(value dropped feed.json)" -gt 0 ] && [ "$(value in ring.json)" = "$(value given feed.json)" ] &&
    [ "$(value dropped ring.json)" = "$(value dropped feed.json)" ] && echo missed
# what makes no sense
try() { expect "$1"; shift; "$airy" oct "$@" --quiet; echo $?; }
try 'a number of times is at least 1' t.raw --plan plan.json --repeat 0
try 'a number of times has no unit of minutes' t.raw --plan plan.json --repeat 3m
try 'a feed has no results' t.raw --plan plan.json --feed $name -o z.npy
try 'a ring is not repeated' ring:$name --plan plan.json --repeat 3
try 'a name of a ring has no slash' ring:a/b --plan plan.json
try 'a pipe is not repeated' - --plan plan.json --repeat 2 <t.raw
expect 'frames of another size are refused'
sed 's/16/8/' plan.json >other.json
$airy oct t.raw --plan plan.json --feed $name --repeat 1500s --line-rate 16000 --quiet >feed.json &
producer=$!
$airy oct ring:$name --plan other.json --quiet 2>&1 | sed "s/$name/NAME/"
await catches $producer
kill -INT $producer && wait $producer && ls | grep -c partial
true

# one frame, and a batch: each way has a row with its limit
$airy bench latency $small --seconds 0.01 --bins 300 --quiet >rows || exit 1
for row in 'latency of a chunk' 'latency of a frame' 'latency of a resident frame' 'resident frames, 16 in a row' 'decode and sum, 32 frames'; do
    grep -q "\"name\": \"$row\"" rows || exit 2
done
[ "$(grep -c '"p99"' rows)" = 5 ] || exit 3

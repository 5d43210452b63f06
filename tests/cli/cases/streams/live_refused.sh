case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
refused() { timeout 120 $airy integrate "$@" 2>&1 | sed 's/; see .*//'; }
refused ipc://a
refused ipc://a frames.h5 -o o.h5
refused ipc://a -o o.xye
refused ipc://a -o o.h5 --monitor m
refused ipc://a -o o.h5 --average 2
refused ipc://a -o o.h5 --series 2
refused ipc://a -o o.h5 --bind --sockets 2
refused ipc://a -o o.h5 --follow
refused ipc://a -o o.h5 --per-rank
for url in tcp://nowhere tcp://localhost:99999 'tcp://*:31001' tcp://:31001; do
    refused "$url" -o o.h5
    $airy integrate "$url" -o o.h5 2>/dev/null
    code=$?; [ $code = 2 ] || echo "exit code $code, expected 2"
done
# schemes that there are not, and what takes no streams
refused tpc://localhost:31001 -o o.h5
refused tcp:/localhost:31001 -o o.h5
$airy stats tcp:/localhost:31001 2>&1
$airy stats tcp://localhost:31001 2>&1
refused ipc://a --publish tcp://192.0.2.1:31001
# a name that no resolver is asked for
refused tcp://a..b:31001 -o o.h5 | sed 's/: [^:]*$//'
refused ipc://a --publish 31002
refused tcp://127.0.0.1:31001 -o o.h5 --allow 10.1.1.1,10.1/16
refused ipc://a -o o.h5 --allow 10.1.1.1
# known before the first series, which would be lost
refused ipc://a -o o.h5 --poni none.poni
refused ipc://a -o none/o.h5
touch done.h5 left.h5.partial
refused ipc://a -o done.h5
refused ipc://a -o left.h5
# of streams only
for option in '--sockets 2' '--hwm 8' '--max-message 1M' '--max-images 5' --bind '--allow 10.1.1.1' '--series 1' '--timeout 1' --drop '--publish ipc://p'; do
    refused $small -o o.h5 $option
done
timeout 120 $airy stream $small --to ipc://b --channels 2 --quiet --patience 60 &
refused ipc://b -o o.h5 | tail -n 1
wait
# a number of images that nobody means, and one for which no disk has room
timeout 120 $helper push ipc://c start,1,195,487,268435456 end,1 start,2,195,487,9000000 end,2 2>/dev/null &
timeout 120 $airy integrate ipc://c --poni ${small%.h5}.poni -o 'many_{series}.h5' --bins 100000 --series 2 --quiet 2>&1 | sed 's/takes .* room/takes BYTES, and the disk has room/; s/for [0-9]* beside/for BYTES beside/; s/[^ ]*many/many/'
wait
timeout 120 $helper push ipc://d start,3,195,487,6 end,3 2>/dev/null &
timeout 120 $airy integrate ipc://d --poni ${small%.h5}.poni -o 'many_{series}.h5' --bins 10 --series 1 --max-images 5 --quiet 2>&1
wait
echo many*

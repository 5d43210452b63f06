case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
. "$cli/check.sh"
refused() { expect "$1"; shift; timeout 120 $airy integrate "$@" 2>&1 | sed 's/; see .*//'; }
refused 'a stream needs an output or an address to publish on' ipc://a
refused 'a stream and files are not one input' ipc://a frames.h5 -o o.h5
refused 'a stream writes no text' ipc://a -o o.xye
refused 'a stream takes no monitor' ipc://a -o o.h5 --monitor m
refused 'a stream takes no groups of frames' ipc://a -o o.h5 --average 2
refused 'several series need their number in the output' ipc://a -o o.h5 --series 2
refused 'a sender that connects decides on the number of sockets' ipc://a -o o.h5 --bind --sockets 2
refused 'a stream is not followed' ipc://a -o o.h5 --follow
refused 'a stream takes no file a rank' ipc://a -o o.h5 --per-rank
for url in tcp://nowhere tcp://localhost:99999 'tcp://*:31001' tcp://:31001; do
    refused "an address without a host and a port is wrong use: $(echo "$url" | tr '*' _)" "$url" -o o.h5
    $airy integrate "$url" -o o.h5 2>/dev/null
    code=$?; [ $code = 2 ] || echo "exit code $code, expected 2"
done
# schemes that there are not, and what takes no streams
refused 'a scheme with swapped letters is refused' tpc://localhost:31001 -o o.h5
refused 'a scheme with one slash is refused' tcp:/localhost:31001 -o o.h5
expect 'stats takes no stream with one slash'
$airy stats tcp:/localhost:31001 2>&1
expect 'stats takes no stream'
$airy stats tcp://localhost:31001 2>&1
refused 'an address to publish on is one of this machine' ipc://a --publish tcp://192.0.2.1:31001
# a name that no resolver is asked for
refused 'a host without a name is not looked up' tcp://a..b:31001 -o o.h5 | sed 's/: [^:]*$//'
refused 'an address to publish on has a scheme' ipc://a --publish 31002
refused 'an address that may connect is complete' tcp://127.0.0.1:31001 -o o.h5 --allow 10.1.1.1,10.1/16
refused 'a path takes no addresses that may connect' ipc://a -o o.h5 --allow 10.1.1.1
# known before the first series, which would be lost
refused 'a geometry that is not there is reported before the first series' ipc://a -o o.h5 --poni none.poni
refused 'a folder that is not there is reported before the first series' ipc://a -o none/o.h5
touch done.h5 left.h5.partial
refused 'an output that is there is reported before the first series' ipc://a -o done.h5
refused 'a partial output that is no result is reported before the first series' ipc://a -o left.h5
# of streams only
for option in '--sockets 2' '--hwm 8' '--max-message 1M' '--max-images 5' --bind '--allow 10.1.1.1' '--series 1' '--timeout 1' --drop '--publish ipc://p'; do
    refused "a file takes no $option" $small -o o.h5 $option
done
expect 'a stream of two channels needs a choice'
timeout 120 $airy stream $small --to ipc://b --channels 2 --quiet --patience 60 &
timeout 120 $airy integrate ipc://b -o o.h5 2>&1 | sed 's/; see .*//' | tail -n 1
wait
# a number of images that nobody means, and one for which no disk has room
expect 'a number of images that nobody means is refused, and a result for which the disk has no room'
timeout 120 $helper push ipc://c start,1,195,487,268435456 end,1 start,2,195,487,9000000 end,2 2>/dev/null &
timeout 120 $airy integrate ipc://c --poni ${small%.h5}.poni -o 'many_{series}.h5' --bins 100000 --series 2 --quiet 2>&1 | sed 's/takes .* room/takes BYTES, and the disk has room/; s/for [0-9]* beside/for BYTES beside/; s/[^ ]*many/many/'
wait
expect 'more images than allowed are refused'
timeout 120 $helper push ipc://d start,3,195,487,6 end,3 2>/dev/null &
timeout 120 $airy integrate ipc://d --poni ${small%.h5}.poni -o 'many_{series}.h5' --bins 10 --series 1 --max-images 5 --quiet 2>&1
wait
expect 'nothing is written'
echo many*

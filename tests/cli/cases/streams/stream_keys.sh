case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
# streams encrypted by keys: the receiver connects, then it is connected to; keys that are not allowed are not heard
poni=${small%.h5}.poni
$airy keys det 2>/dev/null || { echo "libzmq has no CURVE" >&2; exit 77; }
$airy keys rec --json | sed 's/"key": ".*"/"key": TEXT/'
$airy keys other --quiet
ls -l other.key | cut -c 1-10
$airy keys det 2>&1
$airy keys /none/k 2>&1
port=$((20000 + $$ % 12000))
timeout 120 $airy stream $small --to tcp://127.0.0.1:$port --curve-key det.key --curve-allow rec.pub --quiet &
timeout 120 $airy integrate tcp://127.0.0.1:$port --poni $poni -o connects.h5 --bins 10 --curve-key rec.key --curve-server det.pub --quiet
echo "exit code $?"
wait
timeout 120 $airy integrate tcp://127.0.0.1:$((port + 1)) --bind --poni $poni -o bound.h5 --bins 10 --curve-key rec.key --curve-allow det.pub --quiet &
for keys in '--curve-key other.key --curve-server rec.pub' '--curve-key det.key --curve-server other.pub' ''; do
    $airy stream $small --to tcp://127.0.0.1:$((port + 1)) --connect $keys --patience 1 --quiet 2>&1 | sed 's/127.0.0.1:[0-9]*/HERE/'
done
timeout 120 $airy stream $small --to tcp://127.0.0.1:$((port + 1)) --connect --curve-key det.key --curve-server rec.pub --quiet
wait
$airy diff connects.h5 bound.h5 | grep intensity
try() { $airy integrate "$@" 2>&1 | sed 's/; see .*//'; }
chmod 644 rec.pub
cp $poni small.poni
try tcp://127.0.0.1:1 -o o.h5 --curve-key rec.key
try tcp://127.0.0.1:1 -o o.h5 --curve-allow det.pub
try tcp://127.0.0.1:1 -o o.h5 --curve-key rec.key --curve-allow det.pub
try tcp://127.0.0.1:1 -o o.h5 --curve-key rec.key --curve-server det.pub --bind
try tcp://127.0.0.1:1 -o o.h5 --curve-key rec.key --curve-server det.pub --publish ipc://p
try tcp://127.0.0.1:1 -o o.h5 --curve-key rec.pub --curve-server det.pub
try tcp://127.0.0.1:1 -o o.h5 --curve-key rec.key --curve-server small.poni
try tcp://127.0.0.1:1 -o o.h5 --curve-key none.key --curve-server det.pub
try tcp://127.0.0.1:1 -o o.h5 --curve-key rec.key --curve-server /dev/zero
try $small -o o.h5 --curve-key rec.key
$airy stream $small --to tcp://127.0.0.1:1 --curve-key det.key --curve-server rec.pub 2>&1 | sed 's/; see .*//'

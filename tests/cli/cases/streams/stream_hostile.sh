case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
# 200 senders that mean harm, from addresses of their own, beside a detector: its series is complete, memory and disk stay flat
# (by hand: HOSTILE_SECONDS=300 HOSTILE_SEED=2 tests/cli/run.sh AIRY HELPER stream_hostile)
seconds=${HOSTILE_SECONDS:-4}
port=$((20000 + $$ % 12000))
poni=${small%.h5}.poni
$airy integrate $small --poni $poni -o file.h5 --bins 50 --quiet --frames 0:4
mkdir run tmp
cd run
TMPDIR=$PWD/../tmp $airy integrate tcp://127.0.0.1:$port --bind --poni $poni -o o.h5 --bins 50 --memory-limit 256M --timeout $((seconds + 60)) --json >../report 2>../said &
receiver=$!
$airy stream $small --frames 0:4 --to tcp://127.0.0.1:$port --connect --rate $(awk "BEGIN { print 3 / ($seconds + 3) }") --quiet --patience 60 &
until grep -q 'series 1: 4 images' ../said; do kill -0 $receiver || break; sleep 0.1; done
while sed -n 's/VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$receiver/status >>../peaks; do sleep 0.2; done 2>/dev/null &
$helper hostile $port 200 $seconds ${HOSTILE_SEED:-1} >../done
wait $receiver
echo "exit code $?"
$airy diff ../file.h5 o.h5 && echo same
peak=$(sort -n ../peaks | tail -n 1)
echo "peak $peak kB" >&2
[ "$peak" -lt ${HOSTILE_PEAK:-700000} ] && echo "memory is bounded"
echo * ../tmp/*
[ "$(du -k . | cut -f 1)" -lt 4000 ] && echo "disk is bounded"
grep -E '"(received|integrated|conflicts|rivals)"' ../report

case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
refused() { timeout 60 $airy integrate "$@" 2>&1 | sed 's/; see .*//'; }
refused ipc://a
refused ipc://a frames.h5 -o o.h5
refused ipc://a -o o.xye
refused ipc://a -o o.h5 --monitor m
refused ipc://a -o o.h5 --average 2
refused ipc://a -o o.h5 --series 2
refused ipc://a -o o.h5 --bind --sockets 2
refused tcp://nowhere -o o.h5
timeout 60 $airy stream $small --to ipc://b --channels 2 --quiet --patience 20 &
refused ipc://b -o o.h5 | tail -n 1
wait

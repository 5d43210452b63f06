# --drop: a detector that is faster than the device never waits, whatever there is no room for
case $("$airy" --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
value() { sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p" drop.json; }
"$airy" simulate diffraction stack.h5 --detector pilatus_100k --frames 20 --same-frame --increment 50 --write-poni stack.poni --quiet
timeout 120 "$airy" stream stack.h5 --poni stack.poni --to ipc://a --loop 50 --quiet --patience 60 &
timeout 120 "$airy" integrate ipc://a -o drop.h5 --poni stack.poni --bins 1000 --quantile 10,60 --threads 1 --drop --on-error skip --json >drop.json 2>drop.err
echo "exit code $?"
wait
[ $(($(value integrated) + $(value dropped))) = 1000 ] && [ "$(value dropped)" -gt 0 ] && echo "some are dropped"
grep -o "the first: dropped: .*" drop.err

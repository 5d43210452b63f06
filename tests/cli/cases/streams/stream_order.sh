case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
# lost ones, an order by chance that a seed gives again, several sockets, several series, a late end
ids() { grep -o 'image_id=[0-9]*' | cut -d= -f2 | tr '\n' ' '; }
play() { # URL OPTIONS
    timeout 120 $helper pull "$1" >all &
    $airy stream $small --to "$@" --quiet || exit 1
    wait $! || exit 2
    ids <all
    echo
}
play ipc://a --lose 1/3
play ipc://b --lose 0,7,100
play ipc://c --shuffle 8 --seed 3 >first
play ipc://d --shuffle 8 --seed 3 >second
cmp first second && tr ' ' '\n' <first | sort -n | tr '\n' ' '
echo
timeout 120 $helper pull ipc://e ipc://f >all &
$airy stream $small --to ipc://e --to ipc://f --quiet || exit 3
wait $! || exit 4
grep -c '^type=start series_id=1 ' all
grep -c '^type=end series_id=1 ' all
ids <all | tr ' ' '\n' | sort -n | tr '\n' ' '
echo
# a receiver that is bound; two series, the first one's end is the receiver's
timeout 120 $helper pull @ipc://g >all &
receiver=$!
$airy stream $small --to ipc://g --connect --series-count 2 --pause 0.01 --frames 1 --quiet 2>/dev/null &
wait $receiver || exit 5
kill $! # nobody is there for the second one
wait $!
cut -c1-22 all

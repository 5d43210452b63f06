case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
. "$cli/check.sh"
play() { timeout 120 $airy stream $small --quiet --patience 60 "$@" & }
take() { timeout 120 $airy integrate "$@" --bins 100 --error-model poisson --quiet; }
same() { $airy diff file.h5 "$1" >/dev/null || echo "$1 differs from file.h5"; }
expect 'a stream from one socket gives the patterns of the file'
take $small -o file.h5 || exit 1
# one socket, and two of each of two senders
play --to ipc://a
take ipc://a -o one.h5 || exit 2
wait; same one.h5
expect 'two sockets each of two senders give the patterns of the file'
play --to ipc://b --to ipc://c
take ipc://b ipc://c --sockets 2 -o four.h5 || exit 3
wait; same four.h5
# who connects is the other one; images out of order, no end message, no mask
expect 'a sender that connects, another order and no end give the patterns of the file'
play --to ipc://d --connect --shuffle 8 --no-end
take ipc://d --bind -o order.h5 || exit 4
wait; same order.h5
# images that do not come: the rest of the same series, or of the detector's file
for how in stream file; do
    expect "images that do not come leave a partial result, of a $how"
    play --to ipc://e$how --lose 2,5
    take ipc://e$how -o lost_$how.h5 2>/dev/null
    echo "lost: exit code $?, $(ls lost_$how*)"
    wait
done
expect 'the rest comes from the same series'
play --to ipc://f
take ipc://f -o lost_stream.h5 --resume || exit 5
wait; same lost_stream.h5
expect 'the rest comes from the file of the detector'
take $small -o lost_file.h5 --resume || exit 6
same lost_file.h5
expect 'images that do not come are left out where that was asked for'
play --to ipc://g --lose 2
take ipc://g -o skipped.h5 --on-error skip
echo "skipped: exit code $?"
wait
expect 'a service takes series after series'
play --to ipc://h --series-count 3 --pause 0.1
timeout 120 $airy integrate ipc://h -o 'run_{series}.h5' --series 3 --bins 100 --error-model poisson --json --publish ipc://p >report || exit 7
wait
grep -cE '"(expected|received|integrated|published)": 8' report
for i in 1 2 3; do same run_$i.h5; done

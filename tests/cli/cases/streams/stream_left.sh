case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
. "$cli/await.sh"
# To a receiver that stands still from the start message on; where this machine stood still before that could be said, once more.
play() { # URL OPTIONS
    rm -f got # of the one before
    $helper pull "$1" >got &
    id=$!
    $airy stream $small --to "$@" --loop 10 --arm 4 --patience 15 &
    sender=$!
    await test -s got # the start message
    kill -STOP $id
}
# images that wait for a receiver which has stopped have not been sent: their time counts
for try in 1 2 3 4 5; do
    play ipc://a --json >report
    sleep 6
    kill -CONT $id
    wait $sender && wait $id || continue # the receiver gave up before there was a stream
    awk -F'[:,]' '/"seconds"/ { exit !($2 >= 1) }' report && break
done
grep -c image_id got
awk -F'[:,]' '/"seconds"/ { exit !($2 >= 1) }' report || { cat report >&2; exit 3; }
# what never leaves is said
for try in 1 2 3 4 5; do
    play ipc://b --linger 0.5 --quiet 2>said
    wait $sender
    code=$?
    kill -CONT $id
    kill $id
    wait $id
    grep -q 'had not left' said && break
done
echo "exit $code"
sed 's/[0-9]* images/N images/' said

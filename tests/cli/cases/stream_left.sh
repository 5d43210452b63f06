case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
# images that wait for a receiver which has stopped have not been sent: their time counts
$helper pull ipc://a >got &
id=$!
$airy stream $small --to ipc://a --loop 10 --arm 4 --json >report &
sender=$!
for try in $(seq 400); do
    [ -s got ] && break # the start message
    sleep 0.05
done
kill -STOP $id
sleep 6
kill -CONT $id
wait $sender || exit 1
wait $id || exit 2
grep -c image_id got
awk -F'[:,]' '/"seconds"/ { exit !($2 >= 1) }' report || { cat report >&2; exit 3; }
# what never leaves is said
$helper pull ipc://b >got &
id=$!
$airy stream $small --to ipc://b --loop 10 --arm 4 --linger 0.5 --quiet 2>said &
sender=$!
for try in $(seq 400); do
    [ -s got ] && break
    sleep 0.05
done
kill -STOP $id
wait $sender
echo "exit $?"
kill -CONT $id
kill $id
sed 's/[0-9]* images/N images/' said

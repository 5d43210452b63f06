case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
. "$cli/await.sh"
# Receivers that stand still from the start message on: where there was room for the last image, and none for the end, it comes, too.
pulls=
senders=
for n in 1 2 3 4 5 6; do
    $helper pull ipc://$n >got$n &
    pulls="$pulls $!"
    $airy stream $small --frames 0 --loop $n --arm 1 --hwm 1 --to ipc://$n --quiet &
    senders="$senders $!"
done
for n in 1 2 3 4 5 6; do
    await test -s got$n || exit 1
done
kill -STOP $pulls
sleep 2
kill -CONT $pulls
for id in $pulls $senders; do
    wait $id || exit 2
done
cat got? | grep -c type=end

# A command that takes no frames says that a signal has ended it, and leaves nothing.
. "$cli/await.sh"
unset AIRY_DEVICE
$airy simulate sky a.npy --height 2000 --width 2000 --quiet || exit 1
$airy filter median a.npy --size 61 -o o.npy 2>err &
id=$!
await grep -q 'on device' err && kill -TERM $id
wait $id
echo $?
grep -v 'on device' err
ls

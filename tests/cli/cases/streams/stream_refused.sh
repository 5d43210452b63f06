case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
for url in 31001 'tcp://*' 'tcp://*:70000' tcp:// 'http://a:1' 'ipc://none/s' tcp://192.0.2.1:31001 $(printf 'tcp://%0300d:1' 0); do
    timeout 120 $airy stream $small --to "$url" --patience 0.1
    echo "exit $?"
done
. "$cli/await.sh"
$airy stream $small --to 'tcp://127.0.0.1:*' --patience 600 2>bound &
id=$!
await grep -q 'bound to' bound
timeout 120 $airy stream $small --to "$(sed -n 's/.*bound to //p' bound)"
echo "exit $?"
kill $id
wait $id
$airy stream $small
$airy stream nothing.h5 --to ipc://a
$airy stream $small --to ipc://a --frames 9:12
$airy stream $small --to ipc://a --frames 2:12
$airy stream $small --to ipc://a --channels 3
$airy stream $small --to ipc://a --lose 1/0
$airy stream $small --to ipc://a --detail some
$airy stream $small --to ipc://a --filter gzip
cp $small cut.h5 && $helper damage cut.h5 /entry/data/data 2 flip && truncate -s $(($(wc -c <$small) * 3 / 5)) cut.h5
$airy stream cut.h5 --to ipc://a --patience 1
# a name that no resolver is asked for
$airy stream $small --to tcp://a..b:31001 --connect 2>&1 | sed 's/ found: .*/ found/'
exit 0

case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
. "$cli/await.sh"
# a receiver that is killed loses nothing that was integrated
$airy integrate $small -o file.h5 --bins 100 --quiet || exit 1
timeout 120 $airy stream $small --to ipc://a --rate 4 --lose 7 --no-end --quiet 2>/dev/null &
sender=$!
$airy integrate ipc://a -o killed.h5 --bins 100 --quiet &
victim=$!
await rows killed.h5 || exit 4
kill -9 $victim
kill $sender
wait
ls killed*
timeout 120 $airy stream $small --to ipc://b --quiet --patience 60 &
timeout 120 $airy integrate ipc://b -o killed.h5 --bins 100 --resume --quiet || exit 2
wait
$airy diff file.h5 killed.h5 >/dev/null || exit 3
ls killed*

case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
# a receiver that is killed loses nothing that was integrated
$airy integrate $small -o file.h5 --bins 100 --quiet || exit 1
timeout 60 $airy stream $small --to ipc://a --rate 4 --patience 3 --quiet 2>/dev/null &
$airy integrate ipc://a -o killed.h5 --bins 100 --quiet &
victim=$!
sleep 1.2
kill -9 $victim
wait
ls killed*
timeout 60 $airy stream $small --to ipc://b --quiet --patience 20 &
timeout 60 $airy integrate ipc://b -o killed.h5 --bins 100 --resume --quiet || exit 2
wait
$airy diff file.h5 killed.h5 >/dev/null || exit 3
ls killed*

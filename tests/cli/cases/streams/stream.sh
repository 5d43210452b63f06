case $($airy --version --verbose) in *"streams: no"*) echo "no libzmq or libcbor" >&2; exit 77 ;; esac
# every message of two series, as they come; chunks as they are stored
timeout 120 $helper pull ipc://a >all &
$airy stream $small --to ipc://a --rate 200 --frames 2:8:3 --loop 2 --series 5 --json >report || exit 1
wait $! || exit 2
cat all
sed -n '/series"\|images"\|lost\|"bytes"\|preloaded\|stopped/p' report
# pixels, two channels an image, no mask; encoded here
timeout 120 $helper pull ipc://b >all &
$airy stream $small --to ipc://b --frames 2 --filter none --detail none --channels 1 --quiet || exit 3
wait $! || exit 4
cat all
timeout 120 $helper pull ipc://c >all &
$airy stream $small --to ipc://c --frames 0:2 --filter lz4 --channels 2 --no-preload --quiet || exit 5
wait $! || exit 6
sed -n 2p all

# the end of a session stops a command as Ctrl-C does, unless it is ignored as under nohup
. "$cli/await.sh"
case $(sed -n 's/^SigIgn:.*\(.\)$/\1/p' /proc/$$/status) in
[13579bdf]) echo 'SIGHUP is ignored here' >&2; exit 77 ;;
esac
begun() { ls "$1".*.partial; }
$airy simulate diffraction a.h5 --detector eiger_4M --frames 10000 --incompressible --frames-per-file 2000 2>err &
process=$!
await begun a.h5 || exit 1
kill -HUP $process
wait $process
code=$?
[ $code = 1 ] && grep -q 'a.h5: cancelled after .* of 10000 frames, nothing was kept' err && [ "$(ls)" = err ] || { cat err; ls; exit 2; } >&2
# with --force what was there before stays, and that is said
$airy simulate diffraction a.h5 --detector pilatus_100k --frames 2 --quiet && cksum a.h5 >before || exit 6
$airy simulate diffraction a.h5 --detector eiger_4M --frames 10000 --incompressible --force 2>err &
process=$!
await begun a.h5 || exit 7
kill -TERM $process
wait $process
[ $? = 1 ] && grep -q 'cancelled after .* of 10000 frames, what was there before stays; start again' err && cksum a.h5 | cmp - before || { cat err; exit 8; } >&2
rm a.h5 before
(trap '' HUP && exec $airy simulate diffraction b.h5 --detector pilatus_100k --frames 500 --quiet) &
process=$!
await begun b.h5 || exit 3
kill -HUP $process 2>/dev/null
wait $process && [ -e b.h5 ] || exit 4
# before there is anything to keep
mkfifo never.poni
$airy integrate $small --poni never.poni -o c.h5 2>err &
process=$!
await catches $process || exit 5
kill -HUP $process
wait $process
[ $? = 1 ] && [ "$(cat err)" = 'airy integrate: cancelled before the first frame' ]

# an output is a temporary file until it is whole: no file beside it is touched, and a signal cleans up the temporary files
. "$cli/await.sh"
. "$cli/check.sh"
expect 'a file beside an output is untouched'
for name in a.xy b.chi t.dat p.poni; do echo mine >$name.partial; done
poni=${small%.h5}.poni
$airy integrate $small --poni $poni --bins 40 --frames 0:1 -o a.xy --quiet && $airy integrate $small --poni $poni --bins 40 --frames 0:1 -o b.chi --quiet &&
    $airy integrate $small --poni $poni --bins 40 --one-table -o t.dat --quiet &&
    $airy simulate diffraction s.h5 --detector pilatus_100k --frames 1 --write-poni p.poni --quiet || exit 1
for name in a.xy b.chi t.dat p.poni; do
    [ -s $name ] && [ "$(cat $name.partial)" = mine ] || { echo "$name" && ls && exit 2; } >&2
done
rm ./*
expect 'a profile that finds no room says so and leaves nothing'
$airy simulate kernel k.npy --size 5 --quiet || exit 6
said=$( (ulimit -f 0 && exec $airy stats k.npy --profile=p.json --quiet) 2>&1 >/dev/null)
[ "$said" = "airy stats: 'p.json': it cannot be written: File too large; check path, permissions and free space" ] && [ "$(echo p.*)" = 'p.*' ] || { echo "$said" && ls && exit 7; } >&2

# Large enough that a signal comes before it is whole; one that came too late is sent again.
$airy simulate sky in.npy --height 4000 --width 8000 --quiet || exit 3
default=
env --default-signal=INT,HUP true 2>/dev/null && default='env --default-signal=INT,HUP'
is_begun() { [ -e "$(echo out.*.partial)" ]; }
stop() { # SIGNAL OUT
    for try in 1 2 3 4 5 6 7 8 9 10; do
        rm -f out.*
        $default $airy convert in.npy -o "$2" --quiet >/dev/null &
        process=$!
        until is_begun || ended $process; do :; done
        kill -"$1" $process 2>/dev/null
        wait $process
        code=$?
        [ $code = 0 ] && [ "$(echo out.*)" = "$2" ] && continue
        [ $code -gt 128 ] && [ "$(echo out.*)" = 'out.*' ] && return 0
        { echo "SIG$1, $2: exit code $code" && ls && exit 5; } >&2
    done
    echo "$2: no signal came in time" >&2
    exit 77
}
expect 'a SIGTERM cleans up temporary files of every format'
for out in out.npy out.fits out.h5 out.edf; do
    stop TERM $out
done
case $($airy --version --verbose) in *"tiff: no"*) ;; *) stop TERM out.tif ;; esac
expect 'Ctrl-C and a hangup clean up temporary files'
for name in ${default:+INT HUP}; do
    stop $name out.npy
done

# stop a long series of text files, and go on where the message says: no file is missing or in the way
. "$cli/await.sh"
set -- $small $small $small $small $small $small $small $small
set -- "$@" "$@" "$@" "$@" "$@" "$@" "$@" "$@"
set -- "$@" "$@"
options='--batch 1 --threads 16 --bins 200 --error-model poisson'
$airy integrate "$@" $options -o t.dat 2>err &
process=$!
begun() { [ -e t_000020.dat ]; }
await begun || exit 6
kill -INT $process 2>/dev/null
wait $process
code=$?
[ $code = 0 ] && { echo 'the run was too short to stop' >&2; exit 77; }
[ $code = 1 ] || { cat err >&2; exit 2; }
next=$(sed -n 's/.*go on with --frames[ =]\([0-9]*\):$/\1/p' err)
[ "$(ls t_*.dat | wc -l)" = "$next" ] && grep -q "cancelled after $next of 1024 frames" err || { cat err >&2; exit 3; }
ls | grep -q partial && exit 4
$airy integrate "$@" $options --frames $next: -o t.dat --quiet || exit 5
[ "$(ls t_*.dat | wc -l)" = 1024 ] || exit 7

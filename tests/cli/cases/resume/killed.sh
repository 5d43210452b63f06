# a run that was killed outright leaves a valid file, too, and goes on
. "$cli/await.sh"
set -- $small $small $small $small $small $small $small $small
set -- "$@" "$@" "$@" "$@" "$@" "$@" "$@" "$@"
set -- "$@" "$@" "$@" "$@"
options='--batch 1 --threads 1 --bins 200'
$airy integrate "$@" $options -o a.h5 --quiet || exit 1
$airy integrate "$@" $options -o b.h5 --quiet &
process=$!
await rows b.h5 || exit 4
kill -KILL $process 2>/dev/null
wait $process 2>/dev/null
[ -e b.h5 ] && { echo 'the run was too short to kill' >&2; exit 77; }
$airy info b.h5.partial >/dev/null || exit 2
$airy integrate "$@" $options -o b.h5 --resume --quiet || exit 3
[ ! -e b.h5.partial ] && $airy diff a.h5 b.h5 >/dev/null

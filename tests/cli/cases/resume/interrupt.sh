# stop a long run, go on, and compare with one that was not stopped
. "$cli/await.sh"
set -- $small $small $small $small $small $small $small $small
set -- "$@" "$@" "$@" "$@" "$@" "$@" "$@" "$@"
set -- "$@" "$@" "$@" "$@"
options='--batch 1 --threads 1 --bins 200 --error-model poisson'
$airy integrate "$@" $options -o a.h5 --quiet || exit 1
$airy integrate "$@" $options -o b.h5 2>err &
process=$!
await rows b.h5 || exit 6
kill -INT $process 2>/dev/null
wait $process
code=$?
[ $code = 0 ] && { echo 'the run was too short to stop' >&2; exit 77; }
[ $code = 1 ] && grep -q 'b.h5.partial' err && grep -q -e '--resume continues' err && [ -e b.h5.partial ] && [ ! -e b.h5 ] || { cat err >&2; exit 2; }
$airy integrate "$@" $options -o b.h5 --resume --json --quiet >resumed || exit 3
grep -q '"resumed": 0' resumed && exit 4
[ ! -e b.h5.partial ] && $airy diff a.h5 b.h5 >/dev/null || exit 5

# a worker that is killed: one line that names it, a valid file, and --resume goes on to the same bits
. "$(dirname "$0")/../await.sh"
set -- $small $small $small $small $small $small $small $small
set -- "$@" "$@" "$@" "$@" "$@" "$@" "$@" "$@"
set -- "$@" "$@" "$@" "$@"
options='--batch 1 --bins 200 --layout processes --processes 3 --threads 3'
$airy integrate "$@" --bins 200 -o a.h5 --quiet || exit 1
$airy integrate "$@" $options -o b.h5 --quiet 2>said &
process=$!
await rows b.h5 || exit 8
worker=$(grep -l "^PPid:[[:space:]]*$process\$" /proc/[0-9]*/status 2>/dev/null | sed -n 's|/proc/\([0-9]*\)/status|\1|p' | sed -n 2p)
[ -n "$worker" ] && kill -KILL "$worker" 2>/dev/null
wait $process
code=$?
[ $code = 0 ] && { echo 'the run was too short to kill a worker' >&2; exit 77; }
[ $code = 1 ] && [ "$(wc -l <said)" = 1 ] || { cat said >&2; exit 2; }
grep -q "^airy integrate: worker . of 3 (process $worker) was killed by signal 9 (Killed); .*--resume continues b.h5.partial\$" said || { cat said >&2; exit 3; }
$airy info b.h5.partial >/dev/null || exit 4
$airy integrate "$@" $options -o b.h5 --resume --json --quiet >resumed || exit 5
grep -q '"resumed": 0' resumed && exit 6
[ ! -e b.h5.partial ] && $airy diff a.h5 b.h5 >/dev/null || exit 7

# one layout is stopped or killed; another goes on to the same bits
. "$cli/await.sh"
set -- $small $small $small $small $small $small $small $small
set -- "$@" "$@" "$@" "$@" "$@" "$@" "$@" "$@"
set -- "$@" "$@" "$@" "$@"
$airy integrate "$@" --bins 200 -o a.h5 --quiet || exit 1
for signal in TERM KILL; do
    $airy integrate "$@" --bins 200 --layout serial -o b.h5 --quiet 2>said &
    process=$!
    await rows b.h5 || exit 2
    kill -$signal $process 2>/dev/null
    wait $process 2>/dev/null
    code=$?
    [ $code = 0 ] && { echo 'the run was too short to stop' >&2; exit 77; }
    if [ $signal = TERM ]; then
        [ $code = 1 ] && [ "$(wc -l <said)" = 1 ] && grep -q 'cancelled after .* of 2048 frames, which are in b.h5.partial; --resume continues it' said || { cat said >&2; exit 3; }
    fi
    [ -e b.h5.partial ] && [ ! -e b.h5 ] && $airy info b.h5.partial >/dev/null || exit 4
    $airy integrate "$@" --bins 200 --layout threads --batch 1 -o b.h5 --resume --json --quiet >resumed || exit 5
    grep -q '"resumed": 0' resumed && exit 6
    $airy diff a.h5 b.h5 >/dev/null || exit 7
    rm b.h5
done

# Ctrl-C from the first moment on: it is said, the exit code is 1, and a partial file stays only
# where there is something to go on with
. "$cli/await.sh"
mkfifo never.poni
# waits for a writer for five seconds: set-up does not end by itself before
$airy integrate $small --poni never.poni -o a.h5 2>err &
process=$!
await catches $process || exit 1
kill -INT $process
wait $process
code=$?
[ $code = 1 ] && [ "$(cat err)" = 'airy integrate: cancelled before the first frame' ] &&
    [ ! -e a.h5.partial ] || { cat err >&2; exit 2; }

set -- $small $small $small $small $small $small $small $small
set -- "$@" "$@" "$@" "$@" "$@" "$@" "$@" "$@"
# whichever moment a signal meets: before the set-up, in it, at the first frames, or after the last
for layout in threads serial; do
    for moment in 0 0.01 0.03 0.06 0.1 0.2 0.3; do
        rm -f b.h5*
        $airy integrate "$@" --batch 1 --threads 1 --bins 200 --layout $layout -o b.h5 --quiet 2>err &
        process=$!
        await catches $process || exit 3
        sleep $moment
        kill -TERM $process 2>/dev/null
        wait $process
        code=$?
        [ $code = 0 ] && [ -e b.h5 ] && continue
        [ $code = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q '^airy integrate: cancelled' err && [ ! -e b.h5 ] ||
            { echo "$layout, $moment s: exit code $code" && cat err && exit 4; } >&2
        [ -e b.h5.partial ] && resumes=0 || resumes=1
        grep -q -e '--resume continues.*b.h5.partial' -e 'b.h5.partial.*--resume continues' err
        [ $? = $resumes ] || { echo "$layout, $moment s" && cat err && ls && exit 5; } >&2
    done
done

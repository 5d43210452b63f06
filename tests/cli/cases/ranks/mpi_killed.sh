# What ranks have written when one is killed, or all are stopped, is gone on with by any number of them.
. "$cli/mpi.sh"
. "$cli/await.sh"
"$airy" simulate diffraction stack.h5 --detector pilatus_100k --frames 300 --same-frame --increment 50 --write-poni stack.poni --quiet
words="stack.h5 --poni stack.poni --quantile 10,60 --batch 2 --threads 1 --quiet"
"$airy" integrate $words -o alone.h5
# By the folder: other cases have ranks at the same time.
pids() { pgrep -f "^$airy integrate.*-o $PWD/many.h5"; }
# The launcher may be gone before its ranks are.
none_left() { [ -z "$(pids)" ]; }
for files in "" --per-rank; do
    # a run that is over before it is killed says nothing
    for try in 1 2 3 4 5; do
        rm -f many*
        ranks 3 "$airy" integrate $words $files -o "$PWD/many.h5" >/dev/null 2>&1 &
        await test -e many.h5.partial
        sleep 0.1
        kill -9 "$(pids | tail -n 1)" 2>/dev/null
        wait $!
        code=$?
        await none_left
        [ -e many.h5 ] || break
    done
    [ $code != 0 ] && echo "killed" # the code is the launcher's
    ls many.h5*
    ranks 2 "$airy" integrate $words $files -o "$PWD/many.h5" --resume >/dev/null 2>&1 &
    sleep 1.5
    kill -INT "$(pgrep -P $!)" # timeout hands it on
    wait $!
    await none_left
    "$airy" integrate $words -o many.h5 --resume
    echo "resumed: exit $?"
    "$airy" diff alone.h5 many.h5 | grep -vc equal
    ls many* | sed 's/_000[0-2]/_N/' | sort -u # a rank may have been killed before it had a file
done

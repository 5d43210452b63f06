# Ctrl-C amid a batch that takes longer than the launcher waits: the way on is said at once
. "$cli/mpi.sh"
. "$cli/await.sh"
"$airy" simulate diffraction stack.h5 --detector pilatus_100k --frames 300 --same-frame --increment 50 --write-poni stack.poni --quiet
many=$(yes stack.h5 | head -n 16)
# a run that is over before, or has not begun, says nothing
for try in 1 2 3 4 5; do
    rm -f many*
    # shellcheck disable=SC2086
    ranks 2 "$airy" integrate $many --poni stack.poni --quantile 1,99 --batch 128 --threads 1 --quiet -o many.h5 >/dev/null 2>err &
    await test -e many.h5.partial
    sleep 0.3
    kill -INT "$(pgrep -P $!)" 2>/dev/null # timeout hands it on
    wait $!
    grep -q stopping err && break
done
grep stopping err
ls many*

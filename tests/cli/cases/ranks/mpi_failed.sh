# One rank fails: one line that names it, nothing under the output's name, and no rank waits.
. "$cli/mpi.sh"
cat > one.sh <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || export AIRY_DEVICE=gpu:99
exec "$@"
END
chmod +x one.sh
for files in "" --per-rank; do
    ranks 3 ./one.sh "$airy" integrate "$small" $files -o out.h5 --quiet 2>err
    echo "exit $?"
    grep '^airy' err | sed 's/([^)]*)/(HOST)/; s/; there are.*//'
    ls out* 2>/dev/null || echo "nothing"
done

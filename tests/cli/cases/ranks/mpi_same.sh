# Any number of ranks writes what one process writes.
. "$cli/mpi.sh"
"$airy" integrate "$small" --error-model poisson -o alone.h5 --quiet
for n in 1 2 4; do
    ranks $n "$airy" integrate "$small" --error-model poisson --batch 1 -o ranks$n.h5 --quiet --threads 1
    echo "$n: exit $?"
    "$airy" diff alone.h5 ranks$n.h5 | grep -vc equal
done
# an MPI that has no windows, as Debian's between machines: rank 0 is asked by messages
OMPI_MCA_osc=^sm,rdma,ucx,pt2pt ranks 4 "$airy" integrate "$small" --error-model poisson --batch 1 -o asked.h5 --quiet --threads 1
echo "asked: exit $?"
"$airy" diff alone.h5 asked.h5 | grep -vc equal
"$airy" integrate "$small" --average 3 -o alone3.h5 --quiet
ranks 2 "$airy" integrate "$small" --average 3 -o ranks3.h5 --quiet --threads 1
"$airy" diff alone3.h5 ranks3.h5 | grep -vc equal
ls

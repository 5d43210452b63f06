# Who has started a process: an allocation's shell is no launcher, tasks without a PMI are refused, and the module is missed by name.
mkdir other
cp "$airy" other/airy
export LD_LIBRARY_PATH="$(dirname "$airy")/../../src"
unset OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_RANK PMI_RANK PMI_SIZE PMIX_RANK SLURM_PROCID SLURM_STEP_NUM_TASKS
try() {
    env "$@" 2>err
    echo "exit $?"
    cat err
}
try SLURM_JOB_ID=1 SLURM_NTASKS=4 other/airy integrate "$small" -o a.h5 --quiet
try SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 other/airy integrate "$small" -o b.h5 --quiet
try SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 other/airy integrate "$small" -o b.h5 --quiet --mpi=off
try OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 other/airy integrate "$small" -o c.h5 --quiet
try OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 other/airy integrate "$small" -o c.h5 --quiet
try other/airy integrate "$small" -o d.h5 --quiet --mpi
try other/airy integrate "$small" -o e.h5 --quiet --per-rank
try other/airy integrate "$small" -o f.h5 --quiet --per-rank --grid 2x4
ls *.h5

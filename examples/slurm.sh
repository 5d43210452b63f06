#!/bin/sh
# One stack, all GPUs of several machines, one result: sbatch slurm.sh series_master.h5 patterns.h5
# Sent again after a failure or the time limit, it goes on where it was.
#SBATCH --job-name=airy
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=12
#SBATCH --time=00:30:00
#SBATCH --signal=TERM@60
set -eu
stack=$1
result=$2

# A rank takes the GPU of its number on the machine, so all of them must see all of its GPUs: no --gpus-per-task here.
# 'srun --mpi=list' says which PMI this Slurm has (Debian's Open MPI takes pmix); 'airy --version --verbose' whether there is airy-mpi.so.
resume=
[ ! -e "$result.partial" ] || resume=--resume
srun --mpi=pmix --cpu-bind=cores airy integrate "$stack" -o "$result" $resume

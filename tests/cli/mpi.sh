# For the cases of several ranks: `ranks N COMMAND...`; skips where this machine or build has no MPI.
command -v mpirun >/dev/null || { echo "mpirun is missing" >&2; exit 77; }
case $("$airy" --version --verbose) in
*"mpi: no"*) echo "this build has no MPI" >&2; exit 77 ;;
esac
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_mpi_yield_when_idle=1 # ranks that wait leave few cores to those that work
export OMPI_MCA_btl_vader_single_copy_mechanism=none # needs ptrace, which containers forbid
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # MPI's own
case $(mpirun --version) in
*"Open MPI"*) flags="-q --oversubscribe --bind-to none" ;;
*) flags= ;;
esac
ranks() {
    count=$1
    shift
    # shellcheck disable=SC2086
    timeout 200 mpirun $flags -n "$count" "$@"
}

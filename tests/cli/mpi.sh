# For the cases of several ranks: `ranks N COMMAND...`; skips where this machine or build has no MPI.
command -v mpirun >/dev/null || { echo "mpirun is missing" >&2; exit 77; }
case $("$airy" --version --verbose) in
*"mpi: no"*) echo "this build has no MPI" >&2; exit 77 ;;
esac
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
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
    timeout 100 mpirun $flags -n "$count" "$@"
}
# Wait until $1 is there, for at most 20 s.
await() {
    for _ in $(seq 400); do
        [ -e "$1" ] && return 0
        sleep 0.05
    done
    return 1
}

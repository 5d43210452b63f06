# one core and two, by threads, commands and, where MPI is there, ranks, with what the cores can do
[ "$(nproc)" -gt 1 ] || { echo "one core" >&2; exit 77; }
set -- $small --poni "${small%.h5}.poni" --bins 100 --seconds 0.01 --replay 2 --quiet
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # MPI's own
$airy bench scaling "$@" --threads 2 >rows || exit 1
for row in 'integrate, 1 core' 'speed-up, 2 cores' 'compute in registers, 2 cores' 'read memory, 1 core' \
    'integrate, 1 command' 'speed-up, 2 commands' 'integrate, 2 ranks'; do
    grep -q "\"name\": \"$row\"" rows || exit 2
done
grep -q '"commands": 2' rows && grep -q '"identical": true' rows || exit 3
case $($airy --version --verbose) in *"mpi: no"*) ;; *)
    ! command -v mpirun >/dev/null || grep -q '"name": "speed-up, 2 ranks"' rows || exit 4 ;;
esac
# faster jobs play the stack more often, and the rows are the same
$airy bench scaling $small --poni "${small%.h5}.poni" --bins 100 --seconds 0.2 --threads 2 --quiet >rows || exit 9
grep -q '"identical": true' rows || exit 10
# a machine without mpirun says so in the rows, and the rest is measured
PATH=/nowhere $airy bench scaling "$@" --threads 1 >rows || exit 5
grep -q '"name": "integrate, 1 rank"' rows && grep -q '"note": "\(No such file\|mpi: no\)' rows || exit 6
# one that fails is a row's reason, not a banner on the terminal
mkdir bin
printf '#!/bin/sh\nprintf -- "-----\\nNot enough slots\\nfor so many.\\n\\nMore words.\\n-----\\n" >&2\nexit 1\n' >bin/mpirun
chmod +x bin/mpirun
PATH=$PWD/bin:$PATH $airy bench scaling "$@" --threads 1 >rows 2>err || exit 11
[ ! -s err ] && grep -q '"note": "\(Not enough slots for so many.\|mpi: no\)' rows || exit 12
$airy bench scaling $small --threads 1000 --quiet >rows 2>err && exit 7
grep -q 'fewer cores than threads' err || exit 8
command -v gnuplot >/dev/null || { echo 'no gnuplot' >&2; exit 77; }
$airy bench scaling "$@" --threads 1 --write --plot a.png >rows && [ -s a.png ]

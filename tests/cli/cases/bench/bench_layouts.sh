$airy bench layouts $small --poni "${small%.h5}.poni" --bins 100 --threads 2 --seconds 0.01 --replay 4 --quiet >rows || exit 1
for key in layout processes threads speed_up speed_up_serial identical limit first_call; do
    grep -q "\"$key\": " rows || exit 2
done
for layout in serial threads commands; do
    grep -q "\"layout\": \"$layout\"" rows || exit 3
done
grep -q '"identical": false' rows && exit 4
# the serial layout is the first, and the base of speed_up_serial
grep '"speed_up_serial"' rows | head -n 1 | grep -q ': 1.0,$' || exit 16
# --threads bounds how many processes of one thread there are, and the number of the host's threads does not
$airy bench layouts $small --threads 2 --seconds 0.01 --replay 1 2>&1 >rows | grep -q '4 processes are left out: there are 2 threads, as --threads' || exit 12
$airy bench layouts $small --bins 100 --seconds 0.01 --replay 2 --quiet >rows || exit 13
for processes in 2 4 8 15; do
    grep -q "\"layout commands $processes\"" rows || exit 14
done
threads=$($airy devices | sed -n 's/.*"units": \([0-9]*\).*/\1/p' | head -n 1)
[ "$threads" -ge 15 ] || grep -q "\"15 processes share $threads thread" rows || exit 15
# ranks run where MPI is there; otherwise a line says why they are left out
PATH=/nowhere $airy bench layouts $small --threads 2 --seconds 0.01 --replay 1 >rows 2>said || exit 9
grep -q 'cpu: ranks.* left out: ' said && ! grep -q '"layout": "ranks"' rows || { cat said >&2; exit 10; }
case $($airy --version --verbose) in *"mpi: no"*) ;; *)
    if command -v mpirun >/dev/null; then
        export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
        export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # MPI's own
        $airy bench layouts $small --threads 2 --seconds 0.01 --replay 1 --quiet | grep -q '"layout": "ranks"' || exit 11
    fi ;;
esac
$airy bench layouts stages $small --plot a.png 2>/dev/null
[ $? = 2 ] || exit 6
PATH=/nowhere $airy bench layouts $small --plot a.png 2>said
[ $? = 1 ] && [ ! -e a.png ] || exit 7
case $(cat said) in *"the program 'gnuplot' is not there"*) ;; *) exit 8 ;; esac
command -v gnuplot >/dev/null || { echo 'no gnuplot' >&2; exit 77; }
$airy bench layouts $small --bins 100 --seconds 0.01 --quiet --table --plot a.png >table || exit 5
grep -q '^layout serial ' table && [ -s a.png ]

$airy bench layouts $small --poni "${small%.h5}.poni" --bins 100 --seconds 0.01 --replay 4 --quiet >rows || exit 1
for key in layout processes threads speed_up identical limit first_call; do
    grep -q "\"$key\": " rows || exit 2
done
for layout in serial threads processes; do
    grep -q "\"layout\": \"$layout\"" rows || exit 3
done
grep -q '"identical": false' rows && exit 4
$airy bench layouts stages $small --plot a.png 2>/dev/null
[ $? = 2 ] || exit 6
PATH=/nowhere $airy bench layouts $small --plot a.png 2>said
[ $? = 1 ] && [ ! -e a.png ] || exit 7
case $(cat said) in *"the program 'gnuplot' is not there"*) ;; *) exit 8 ;; esac
command -v gnuplot >/dev/null || { echo 'no gnuplot' >&2; exit 77; }
$airy bench layouts $small --bins 100 --seconds 0.01 --quiet --table --plot a.png >table || exit 5
grep -q '^layout serial ' table && [ -s a.png ]

command -v gnuplot >/dev/null || { echo "no gnuplot" >&2; exit 77; }
# of two dimensions a frame is drawn; the option that chooses one is of 'airy plot'
$airy integrate $small --poni ${small%.h5}.poni -o map.h5 --bins 20x10 --plot map.png 2>&1 | grep drawn
$airy plot map.h5 -o again.png 2>&1 | grep drawn

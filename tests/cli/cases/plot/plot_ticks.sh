# what stands at the axes of pictures: round numbers, a unit, whole numbers of rows and columns, powers of ten
command -v gnuplot >/dev/null || { echo "no gnuplot" >&2; exit 77; }
texts() { tr -d '\n' <"$1" | sed 's/<[^>]*>/\n/g' | sed 's/^[ \t]*//; /^$/d'; }
$airy simulate sky sky.fits --height 64 --width 96 --sources 9 --seed 3 --quiet
$airy sources sky.fits --plot sky.svg --quiet >/dev/null || exit 1
texts sky.svg | grep -c '^-*[0-9.]*[1-9][0-9][1-9]$' # a tick of three digits or more
texts sky.svg | grep -cx 0 # of x, y and colours
texts sky.svg | grep 'Jy/beam'
$airy convert sky.fits -o sky.npy --quiet && $airy sources sky.npy --plot npy.svg --quiet >/dev/null || exit 2
texts npy.svg | grep 'pixel value'
# zero in a few bins does not keep the colours from being logarithmic
$airy integrate $small -o two.h5 --bins 200x90 --quiet && $airy plot two.h5 -o two.svg --quiet || exit 3
texts two.svg | grep -c '^0.1$'
$airy integrate $small -o one.h5 --roi 1,2 --grid 2x4 --quiet && $airy plot one.h5 -o map.svg --map roi_0 --quiet || exit 4
texts map.svg | grep -c '\.5$'
$airy plot one.h5 -o three.svg --kind map --quiet && texts three.svg | grep -cx 7

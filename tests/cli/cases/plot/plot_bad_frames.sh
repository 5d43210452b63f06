command -v gnuplot >/dev/null || { echo 'no gnuplot' >&2; exit 77; }
cp $small a.h5
$helper damage a.h5 /entry/data/data 2 flip
$airy integrate a.h5 --on-error skip --bins 40 -o y.h5 --quiet 2>/dev/null
[ $? = 3 ] || exit 1
$airy plot y.h5 -o y.svg --quiet && grep -q svg y.svg || exit 2
$airy plot y.h5 --frame 2 -o z.svg 2>said
[ $? = 1 ] && grep -q -e '--frame 2: has no values, the frame failed or is not done yet' said || exit 3
$airy plot y.h5 --x-range 500,600 -o z.svg 2>said
[ $? = 1 ] && grep -q -e '--x-range 500,600: no values there' said || exit 4
$airy plot y.h5 -o none/z.svg 2>said
[ $? = 1 ] && grep -q "'none/z.svg': there is no folder 'none/'" said && [ "$(wc -l <said)" = 1 ] || exit 5
# rows that are not done yet are missing
$airy integrate a.h5 --batch 1 --threads 1 --bins 40 -o p.h5 --quiet 2>/dev/null
[ -e p.h5.partial ] && $airy plot p.h5.partial -o p.svg --quiet || exit 6
$airy plot p.h5.partial --frame 2 -o z.svg 2>/dev/null
[ $? = 1 ] && [ ! -e z.svg ] && [ ! -e z.svg.partial ]

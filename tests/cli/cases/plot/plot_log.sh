# what a logarithmic scale cannot show is refused
$airy integrate $small --bins 20 -o r.h5 --quiet || exit 3
printf '1 0\n2 -5\n3 0\n' >zero.xy
for words in "r.h5 --scale log --y-range=-5,10" "r.h5 --scale log --y-range=0,10" "zero.xy --scale log" "r.h5 --map total" "nowhere.h5 --map total" "$small"; do
    $airy plot $words -o p.png --quiet 2>&1 | sed "s|$small|small.h5|"
done
command -v gnuplot >/dev/null || exit 0
$airy plot r.h5 --y-range=-5,10 -o p.png --quiet

# a level curve comes back level: 500 x 2 counts, within what Poisson allows in a bin of hundreds of pixels
printf '# q counts\n0 500\n7,500\n20;500\n' >curve.txt
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 1 --curve curve.txt --scale 2 --quiet &&
    $airy integrate s.h5 --bins 40 -o s.xy --quiet || exit 1
grep -v '^#' s.xy | awk '{ n++; sum += $2; if ($2 < 950 || $2 > 1050) bad++ } END { exit !(n == 40 && !bad && sum / n > 998 && sum / n < 1002) }'

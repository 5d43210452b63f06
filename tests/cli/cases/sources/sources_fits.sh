case $($airy --version --verbose) in *"wcs: no"*|*"fits: written only"*) echo "no wcslib or CFITSIO" >&2; exit 77 ;; esac
# axes of length 1 are none
$airy simulate sky a.fits --height 40 --width 50 --sources 3 --source none --quiet
f=$golden/astro/fitsvariants
$airy sources $f/radio4d_f4.fits --background b.fits --segmentation s.fits --quiet | grep -c sources && $airy info b.fits | head -n 1 && $airy info s.fits | head -n 1
$airy sources $f/cube_f4.fits --quiet; echo $?
$airy sources $f/cube_f4.fits --frame 3 --quiet; echo $?
$airy sources $f/cube_f4.fits --frame 2 --noise n.fits --quiet | grep -c sources && $airy info n.fits | head -n 1
# a frame has two dimensions where the format has no use for the others
for o in n.npy n.cbf n.edf; do $airy sources $f/cube_f4.fits --frame 2 --segmentation $o --quiet | grep -c sources && $airy info $o | head -n 1; done
for name in f4_nan i16_bscale_blank u16_bzero u8 i64 comp_RICE_1; do $airy sources $f/$name.fits --sigma 3 --quiet | grep -c sources; done
# a header without unit, a beam of nothing, a file that is cut
head -c 5000 a.fits >cut.fits && $airy sources cut.fits --quiet; echo $?
sed "s/Jy\/beam /MAJ     /" a.fits >u.fits && $airy sources u.fits --min-area 1 --catalog u.csv --sigma 3 2>&1 >/dev/null | grep empty
sed "s/^\(.*\)BMAJ    =               0.0048/\1BMAX    =               0.0048/" a.fits >v.fits && $airy sources v.fits --catalog m.csv 2>&1 >/dev/null | grep empty
sed 's/BMAJ    =               0.0048/BMAJ    =               0.0000/' a.fits >x.fits && $airy sources x.fits --catalog x.csv 2>&1 >/dev/null | grep empty
sed "s/RA---SIN/FREQ    /" a.fits >w.fits && $airy sources w.fits --sigma 3 --min-area 1 --catalog w.csv --regions w.reg 2>&1 >/dev/null | grep empty
sed -n 3p w.reg
awk -F, 'NR == 2 { print "ra " $4 ", dec " $5 }' w.csv
# infinite pixels are no sources
$airy stats $f/f4_nan.fits | grep '"nan'
$airy sources $f/f4_nan.fits --method simple --sigma 1 --catalog inf.csv --quiet | grep '"sources'
echo "$(grep -c inf inf.csv) infinite"
# an image that CFITSIO does not read is there all the same
sed 's/ZBITPIX =                   16/ZBITPIX =                   64/' $f/comp_GZIP_1.fits >wide.fits
$airy info wide.fits

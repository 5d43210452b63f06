# images of which there is little to find: right answers, or one line that says why not
try() { "$airy" sources "$@" --quiet | grep -e '"sources' -e '"noise' ; }
$helper image c.h5 8 8 3 && try c.h5::/image
$helper image o.h5 1 1 3 && try o.h5::/image
$helper image r.h5 1 300 3 && try r.h5::/image
$helper image n.h5 8 8 nan && $airy sources n.h5::/image --quiet; echo $?
$airy sources $small --quiet; echo $?
$airy sources $small --frame 3 --quiet | grep -c sources
$airy sources $golden/astro/ccl_torture.h5::/full__mask --quiet | grep '"sources'
# axes of length 1 are none
$airy simulate sky a.fits --height 40 --width 50 --sources 3 --source none --quiet
case $($airy --version --verbose) in *"fits: written only"*) exit 0 ;; esac
f=$golden/astro/fitsvariants
$airy sources $f/radio4d_f4.fits --background b.fits --segmentation s.fits --quiet | grep -c sources && $airy info b.fits | head -n 1 && $airy info s.fits | head -n 1
$airy sources $f/cube_f4.fits --quiet; echo $?
$airy sources $f/cube_f4.fits --frame 3 --quiet; echo $?
$airy sources $f/cube_f4.fits --frame 2 --noise n.fits --quiet | grep -c sources && $airy info n.fits | head -n 1
for name in f4_nan i16_bscale_blank u16_bzero u8 i64 comp_RICE_1; do $airy sources $f/$name.fits --sigma 3 --quiet | grep -c sources; done
# a header without unit, a beam of nothing, a file that is cut
head -c 5000 a.fits >cut.fits && $airy sources cut.fits --quiet; echo $?
sed "s/JY\/BEAM /MAJ     /" a.fits >u.fits && $airy sources u.fits --min-area 1 --catalog u.csv --sigma 3 2>&1 >/dev/null | grep empty
sed "s/^\(.*\)BMAJ    =               0.0048/\1BMAX    =               0.0048/" a.fits >v.fits && $airy sources v.fits 2>&1 >/dev/null | grep empty
sed "s/RA---SIN/FREQ    /" a.fits >w.fits && $airy sources w.fits --sigma 3 --min-area 1 --catalog w.csv --regions w.reg 2>&1 >/dev/null | grep empty
sed -n 3p w.reg
awk -F, 'NR == 2 { print "ra " $4 ", dec " $5 }' w.csv

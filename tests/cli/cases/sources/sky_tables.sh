# Sexagesimal coordinates, and tables with blanks between their columns.
case $($airy --version --verbose) in *"wcs: no"*|*"fits: written only"*) echo "no wcslib or CFITSIO" >&2; exit 77 ;; esac
. "$cli/check.sh"
$airy simulate sky a.fits --height 32 --width 32 --sources 0 --source none --quiet
sed 's/RA---/GLON-/; s/DEC--/GLAT-/' a.fits >g.fits
same() { # SENTENCE IMAGE DECIMAL TEXT...
    expect "$1" && image=$2
    $airy sky $image --radec "$3" >want || exit 1
    shift 3
    for text; do $airy sky $image --radec "$text" | cmp - want || echo "$text"; done
}
same 'hours, minutes and seconds are read in all their forms' a.fits 266.25,-29.5 17:45:00,-29:30:00 '17:45:00 -29:30:00' '17:45, -29:30' 17h45m0s,-29d30m 17H45M00.000S,-29D30M0 266d15m0s,-29.5d 17.75h,-29d30m0.s '+17:45:00	-29.5' 266.25,-29:30:00
same 'an angle between 0 and -1 degrees is negative' a.fits 0.46875,-0.25 0:01:52.5,-0:15:00 '0h1m52.5s -0d15m0s' 0h01m52.5s,-00:15
same 'one digit of hours is enough' a.fits 83.75,0.5 '5:35:00 +0:30:00' 05:35:00.0,0d30m
same 'galactic coordinates are in degrees' g.fits 17.75,-0.25 17:45:00,-0:15:00 17d45m,-0.25 1h11m,-0d15m
expect 'each text that is no angle is refused with its reason'
for text in 24:00:00,0 -1:00:00,0 5:60:00,0 5:00:60,0 5:34:31.9,90:00:01 0,5h 0,-91:00 5:3.5:1,0 5:34:31.9.1,0 5h34:31,0 5m,0 ::,: 5:34:,0 361d,0 1e999,0 0x10,0 "5:34:31.9,0,1" '1 2 3' '05 34 31.9' 1:2:3,none 5:34:31s,0 \
    "111111111111111111111111111111111111111111111111111111:22222222222,3"; do $airy sky a.fits --radec "$text"; done 2>&1
printf 'ra,dec\n266.25,-29.5\n83.75,0.5\n' >want.csv
$airy sky a.fits --radec want.csv >want
cat >a.cat <<'TEXT'
#   1 NUMBER          Running object number
#   3 ALPHA_J2000     Right ascension of barycenter (J2000)   [deg]
#   4 DELTA_J2000     Declination of barycenter (J2000)       [deg]
#   5 VECTOR_ASSOC
         1  0  266.25    -29.5     3 4
         2  0   83.75      0.5     3 4
TEXT
printf '# dec flux ra\n-29.5 1 266.25\n\n# more\n 0.5 1 83.75\n' >b.cat
printf 'flux  ra   dec\n1 17:45:00 -29:30:00\n1\t05:35:00 +00:30:00\r\n' >c.cat
printf '17:45:00 -29:30:00\n5h35m 0d30m' >d.cat
printf 'name,ra,dec\n"a",17:45:00,-29:30:00\n"b b",5h35m,0d30m\n' >e.csv
printf '# made by hand\n266.25,-29.5\n83.75,0.5\n' >f.csv
{ printf '\357\273\277'; sed 's/$/\r/' e.csv; } >g.csv # as Windows writes it
printf '\357\273\277#%s\n' ' dec ra' >h.cat && printf '%s\n' '-29.5 266.25' '0.5 83.75' >>h.cat
for f in a.cat b.cat c.cat d.cat e.csv f.csv g.csv h.cat; do
    expect "the table $f has the coordinates"
    $airy sky a.fits --radec $f | cmp - want || echo $f
done
expect 'a table comes from standard input'
$airy sky a.fits --radec /dev/stdin <want.csv | cmp - want || echo stdin
expect 'a table comes through a pipe'
cat f.csv | $airy sky a.fits --radec /dev/stdin | cmp - want || echo pipe
expect 'pixels of SExtractor count from 1'
printf '#   1 X_IMAGE  Object position along x [pixel]\n#   2 Y_IMAGE  Object position along y [pixel]\n  16.5   16.5\n' >x.cat
$airy sky a.fits --pixels 15.5,15.5 >want; $airy sky a.fits --pixels x.cat | cmp - want || echo x.cat
printf 'x y\n1 2\n3\n' >1; printf 'a b\n1 2\n' >2; printf '1 2\n3 x\n' >3; { printf '1 2\n'; head -c 5000 /dev/zero | tr '\0' 1; echo ' 3'; } >4; printf '1 2\n3 4\0 5\n' >5; printf '#  99999999999999999999 X_IMAGE\n#  9 Y_IMAGE\n# 0 X_IMAGE\n1 2\n' >6
expect 'each text that is no table of pixels is refused with its line'
for f in 1 2 3 4 5 6; do $airy sky a.fits --pixels $f; done 2>&1
expect 'lines end in line feeds'
printf 'x,y\r10,20\r30,40\r' >cr; $airy sky a.fits --pixels cr 2>&1; printf 'x,y\r\n10,20\r\n' >crlf; $airy sky a.fits --pixels crlf | grep -c ^10,
expect 'each text that is no table of angles is refused with its line'
printf 'ra dec\n5:60:00 1\n' >7; printf 'ra dec\n5:00:00 1\n1:2:3 -95:00:00\n' >8; printf '5:60:00 1\n' >9; for f in 7 8 9; do $airy sky a.fits --radec $f; done 2>&1
expect 'degrees have the same bounds'
for text in 83.6,95 inf,0 1e308,0 -83.6,-90.5; do $airy sky a.fits --radec $text; done 2>&1
expect 'pixels that are no two numbers are refused before the image is read'
for text in 1,2,3 a,b '1 2 3'; do $airy sky none.fits --pixels "$text"; echo $?; done 2>&1
expect 'coordinates that are no two angles are refused before the image is read'
for text in 1,2,3 1,x 1,95; do $airy sky none.fits --radec "$text"; echo $?; done 2>&1
expect 'a table that is not there is refused before the image is read'
$airy sky none.fits --pixels none.csv 2>&1; echo $?
expect 'hours beyond the day are refused before the image is read'
$airy sky a.fits --radec 25:00:00,1 2>&1; echo $?
expect 'places outside of the image have no coordinates'
$airy sky a.fits --pixels 1e308,1; $airy sky a.fits --radec nan,-nan

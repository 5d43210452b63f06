m=$golden/astro/ccl_torture.h5
$airy label $m::/perc0.5__mask -o l.npy --quiet && $airy diff l.npy $m::/perc0.5__l4 && $airy label $m::/perc0.5__mask --connectivity 8 &&
    $airy label $m::/diag__mask --table t.csv --min-area 1 --max-area 3 --connectivity 8 && cat t.csv && $airy label $m::/onepix__mask --table u.csv >/dev/null && cat u.csv
# sigma alone is no threshold over a background that is still there
$airy simulate sky sky.fits --height 64 --width 64 --background 7,0,0 --sources 0 --source none --quiet && $airy label sky.fits --sigma 3 2>said >/dev/null
grep -c 'lies below the background' said
# of values of both signs there may be no ellipse, of a sum of 0 no center either
{ printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 10)}"
    printf '\000\000\000\000\000\002\377\000\001\377'; } >signs.npy
$airy label signs.npy --table signs.csv >/dev/null && cut -d, -f1,3,8-19 signs.csv

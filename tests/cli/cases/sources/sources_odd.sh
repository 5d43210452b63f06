# images of which there is little to find: right answers, or one line that says why not
try() { "$airy" sources "$@" --quiet | grep -e '"sources' -e '"noise' ; }
$helper image c.h5 8 8 3 && try c.h5::/image
$helper image o.h5 1 1 3 && try o.h5::/image
$helper image r.h5 1 300 3 && try r.h5::/image
$helper image n.h5 8 8 nan && $airy sources n.h5::/image --quiet; echo $?
$airy sources $small --quiet; echo $?
$airy sources $small --frame 3 --quiet | grep -c sources
$airy sources $golden/astro/ccl_torture.h5::/full__mask --quiet | grep '"sources'
# values beyond float32 are refused by the full method; no noise is said
$helper image k.h5 1 8 1 && $airy convolve o.h5::/image --kernel k.h5::/image -o one.npy --mode same --border value=1e60 --dtype float64 --quiet
$airy sources one.npy --quiet; echo $?
$airy sources c.h5::/image --device cpu >/dev/null

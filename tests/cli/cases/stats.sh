# the same numbers for an image and for the dataset it came from; two values are left out by the mask, and so are those that are no numbers
$airy convert $golden/astro/ks_cases.h5::/edge_exact -o a.npy --quiet || exit 1
$airy stats a.npy && $airy stats $golden/astro/ks_cases.h5::/edge_exact >b && $airy stats a.npy >a && cmp a b || exit 2
$airy stats a.npy --quantiles 0,50,100 --histogram 4,-1,3 --mad

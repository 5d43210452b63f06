$airy clip $golden/astro/ks_cases.h5::/even_median && $airy clip $golden/astro/ks_cases.h5::/constant &&
    $airy clip $golden/astro/ks_cases.h5::/cauchy --iterations 5 --inclusive --center mean --spread mad --kappa 2,4 | grep -o '"iterations": 5'
$airy clip --help | tr -s " \n" " " | grep -o "mad: 1[.0-9]* times the median distance from the median"
# of which nothing is left is said, and what keeps it
{ printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1, 4)}"; printf '77771234'; } >two.npy
$airy clip two.npy --each | grep -c null; $airy clip two.npy --frames 0 --inclusive | grep count

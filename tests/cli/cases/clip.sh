$airy clip $golden/astro/ks_cases.h5::/even_median && $airy clip $golden/astro/ks_cases.h5::/constant &&
    $airy clip $golden/astro/ks_cases.h5::/cauchy --iterations 5 --inclusive --center mean --spread mad --kappa 2,4 | grep -o '"iterations": 5'
$airy clip --help | tr -s " \n" " " | grep -o "mad: 1[.0-9]* times the median distance from the median"

x=$golden/astro/ks_cases.h5
$airy stats nowhere.npy; echo $?
$airy stats $x::/single --quantiles 50,101; echo $?
$airy stats $x::/single --histogram 4,2,1; echo $?
$airy stats $x::/single --mask $x::/constant; echo $?
$airy clip $x::/single --kappa 0; echo $?
$airy clip $x::/single --center mode; echo $?
$airy threshold $x::/single -o m.npy; echo $?
$airy threshold $x::/single --above 1; echo $?
$airy threshold $x::/single --above 1e400 -o m.npy; echo $?
$airy stats ''; echo $?

m=$golden/astro/ccl_torture.h5
$airy convolve $m::/onepix__mask -o a.npy; echo $?
$airy convolve $m::/onepix__mask --kernel $m::/checker__mask; echo $?
$airy convolve $m::/onepix__mask --kernel $m::/checker__mask -o a.npy --mode valid; echo $?
$airy convolve $m::/onepix__mask --kernel $m::/checker__mask -o a.npy --border edge; echo $?
$airy convolve $m::/onepix__mask --kernel $m::/spiral__mask -o a.npy --algorithm separable; echo $?
$airy convolve $m::/onepix__mask --kernel $m::/checker__mask -o a.npy --dtype int32; echo $?
$airy blur $m::/onepix__mask -o a.npy; echo $?
$airy blur $m::/onepix__mask --sigma 0 -o a.npy; echo $?
$airy blur $m::/onepix__mask --sigma 1,2,3 -o a.npy; echo $?
$airy blur $m::/onepix__mask --sigma 1,x -o a.npy; echo $?
[ ! -e a.npy ]

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
$airy simulate sky nan.npy --height 9 --width 9 --blank 1 --quiet
for command in 'convolve -o a.npy' sources; do $airy $command $m::/onepix__mask --kernel nan.npy; echo $?; done
$airy simulate sky large.npy --height 1 --width 1026 --quiet
$airy convolve nan.npy --kernel large.npy -o a.npy; echo $?
[ ! -e a.npy ]

# an impulse becomes the kernel; both methods and both orders of axes agree
m=$golden/astro/ccl_torture.h5
$airy convolve $m::/onepix__mask --kernel $m::/checker__mask -o a.npy && $airy stats a.npy | grep -e count -e sum && $airy convolve $m::/onepix__mask --kernel $m::/checker__mask -o b.npy --algorithm direct --json &&
    $airy diff a.npy b.npy && $airy convolve $m::/onepix__mask --kernel $m::/onepix__mask -o c.npy --mode same --dtype float64 && $airy diff c.npy $m::/onepix__mask
$airy convolve $m::/perc0.5__mask --kernel $m::/full__mask -o d.npy --mode valid --border value=3 && $airy blur $m::/perc0.5__mask --sigma 1.5 -o e.npy && $airy stats e.npy | grep -c '"count": 13231'
$airy blur $m::/perc0.5__mask --sigma 2,0 --border wrap -o f.npy && $airy blur $m::/perc0.5__mask --sigma 2,0 --border zero -o f.npy --force && $airy stats f.npy | grep -c '"nan": 0'
$airy convolve $m::/perc0.5__mask --kernel $m::/onepix__mask -o g.npy --mode same --algorithm fft --dtype float64 && $airy convolve $m::/perc0.5__mask --kernel $m::/onepix__mask -o h.npy --mode same --algorithm direct --dtype float64 && $airy diff g.npy h.npy --atol 1e-9

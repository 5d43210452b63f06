# what does not fit is cut and the result stays the same; a plan alone does nothing
$airy simulate diracs a.npy --size 1500 --quiet && $airy blur a.npy --sigma 3 -o b.npy --quiet && $airy blur a.npy --sigma 3 -o c.npy --memory-limit 8M --json | grep -e tiles -e device_bytes && $airy diff b.npy c.npy
$airy simulate kernel k.npy --quiet && $airy convolve a.npy --kernel k.npy -o d.npy --quiet && $airy convolve a.npy --kernel k.npy -o e.npy --memory-limit 16M && $airy diff d.npy e.npy
$airy blur a.npy --sigma 3 --plan --memory-limit 8M && $airy convolve a.npy --kernel k.npy --plan --json | grep tiles && ls
$airy blur a.npy --sigma 3 --plan --memory-limit 1K; echo $?

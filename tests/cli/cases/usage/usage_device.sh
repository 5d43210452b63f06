# wrong use is the only thing said, before any file is looked at where the options alone tell it, and before a device is named
unset AIRY_DEVICE
$airy simulate sky y.npy --height 16 --width 16 --quiet
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 2 --quiet
$airy convert $golden/astro/ks_cases.h5::/even_median -o l.npy --quiet
try() { # COMMAND...: the exit code, how many lines, and the first
    $airy "$@" >out 2>err
    echo "$? $(cat out err | wc -l) $(head -n 1 err | sed 's/; see .*//')"
}
echo "options alone"
none=none.npy
try stats $none --quantiles 1,x
try stats $none --quantiles 50,101
try stats $none --quantiles 50,
try stats $none --histogram 0
try stats $none --histogram 10,3,1
try stats $none --histogram 10,0,inf
try stats $none --delta-dummy 1
try clip $none --delta-dummy 1
try label $none --connectivity 5
try label $none --connectivity 6 --each
try label $none --min-area 5 --max-area 4
try filter log $none --sigma 0 -o o.npy
try filter dog $none --sigma 1 --sigma2 1,0 -o o.npy
try filter dog $none --sigma 1,1 --sigma2 2,2,2 -o o.npy
try filter rank $none --rank 1e0 -o o.npy
try blur $none --sigma 1,inf -o o.npy
try sources $none --apertures 1,2,
try view $none -o o.png --limits 3,1
try view $none -o o.png --log --limits=-3,-1
try sky $none
echo "with the image"
try label y.npy --connectivity 6
try label s.h5 --connectivity 4
try filter median y.npy --size 3,3,3 -o o.npy
try filter rank y.npy --rank 9 -o o.npy
try filter sobel y.npy --axis 2 -o o.npy
try filter sobel l.npy --axis 1 -o o.npy
try blur y.npy --sigma 1,2,3 -o o.npy
try blur l.npy --sigma 1,2 -o o.npy
echo "and the device where nothing is wrong"
for words in 'stats y.npy' 'clip y.npy' 'stats s.h5 --each' 'label y.npy' 'threshold y.npy --above 1 -o a.npy' 'sources y.npy --sigma 100' \
    'filter median y.npy -o b.npy' 'filter hampel y.npy -o c.npy' 'filter box y.npy -o d.npy' 'blur y.npy --sigma 1 -o e.npy'; do
    try $words | grep -c "^0 .* on device .* by default"
done

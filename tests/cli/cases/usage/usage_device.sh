# Wrong use is reported alone, before any file is looked at where the options alone show it, and before a device is named.
. "$cli/check.sh"
unset AIRY_DEVICE
$airy simulate sky y.npy --height 16 --width 16 --quiet
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 2 --quiet
$airy convert $golden/astro/ks_cases.h5::/even_median -o l.npy --quiet
run() { # COMMAND...: the exit code, how many lines, and the first
    $airy "$@" >out 2>err
    echo "$? $(cat out err | wc -l) $(head -n 1 err | sed 's/; see .*//')"
}
try() { expect "$1"; shift; run "$@"; } # SENTENCE COMMAND...
none=none.npy
try 'a quantile is a number' stats $none --quantiles 1,x
try 'a quantile is at most 100' stats $none --quantiles 50,101
try 'no quantile is empty' stats $none --quantiles 50,
try 'a histogram has at least one bin' stats $none --histogram 0
try 'limits of a histogram rise' stats $none --histogram 10,3,1
try 'limits of a histogram are finite' stats $none --histogram 10,0,inf
try 'stats takes a tolerance with a dummy value only' stats $none --delta-dummy 1
try 'clip takes a tolerance with a dummy value only' clip $none --delta-dummy 1
try 'there is no connectivity of 5' label $none --connectivity 5
try 'planes have no connectivity of 6' label $none --connectivity 6 --each
try 'the smallest area is at most the largest' label $none --min-area 5 --max-area 4
try 'a sigma of a Laplacian is above 0' filter log $none --sigma 0 -o o.npy
try 'each second sigma is above 0' filter dog $none --sigma 1 --sigma2 1,0 -o o.npy
try 'there are as many second sigmas as first ones' filter dog $none --sigma 1,1 --sigma2 2,2,2 -o o.npy
try 'a rank is a whole number' filter rank $none --rank 1.5 -o o.npy
try 'a sigma of blur is finite' blur $none --sigma 1,inf -o o.npy
try 'no radius of an aperture is empty' sources $none --apertures 1,2,
try 'limits of a picture rise' view $none -o o.png --limits 3,1
try 'limits of a logarithmic picture are above 0' view $none -o o.png --log --limits=-3,-1
try 'sky needs pixels or coordinates' sky $none
try 'an image has no connectivity of 6' label y.npy --connectivity 6
try 'a stack has no connectivity of 4' label s.h5 --connectivity 4
try 'a box of an image has at most two sizes' filter median y.npy --size 3,3,3 -o o.npy
try 'a rank lies in its box' filter rank y.npy --rank 9 -o o.npy
try 'an axis of a filter is one of the image' filter sobel y.npy --axis 2 -o o.npy
try 'an axis of a filter is one of a line' filter sobel l.npy --axis 1 -o o.npy
try 'an image takes at most two sigmas' blur y.npy --sigma 1,2,3 -o o.npy
try 'a line takes at most one sigma' blur l.npy --sigma 1,2 -o o.npy
for words in 'stats y.npy' 'clip y.npy' 'stats s.h5 --each' 'label y.npy' 'threshold y.npy --above 1 -o a.npy' 'sources y.npy --sigma 100' \
    'filter median y.npy -o b.npy' 'filter hampel y.npy -o c.npy' 'filter box y.npy -o d.npy' 'blur y.npy --sigma 1 -o e.npy'; do
    expect "'$words' names its device"
    run $words | grep -c "^0 .* on device .* by default"
done

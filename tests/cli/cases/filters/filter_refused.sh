. "$cli/check.sh"
m=$golden/astro/ccl_torture.h5
try() { expect "$1"; shift; $airy filter "$@"; echo $?; }
try 'a filter needs a name'
try 'a filter needs an image' median
try 'a misspelt name is recognized' medain $m::/onepix__mask -o a.npy
try 'an unknown name refers to the list' bilateral $m::/onepix__mask -o a.npy
try 'a filter needs an output' median $m::/onepix__mask
try 'a filter takes one image' median $m::/onepix__mask $m::/onepix__mask -o a.npy
try 'a median takes no sigma' median $m::/onepix__mask -o a.npy --sigma 2
try 'a Laplace filter takes no box' laplace $m::/onepix__mask -o a.npy --size 3
try 'a median takes no dtype' median $m::/onepix__mask -o a.npy --dtype float32
try 'a box has a size of at least 1' median $m::/onepix__mask -o a.npy --size 0
try 'a size of a box is a whole number' median $m::/onepix__mask -o a.npy --size 2.5
try 'a box of an image has at most two sizes' median $m::/onepix__mask -o a.npy --size 3,3,3
try 'a box and a footprint exclude each other' median $m::/onepix__mask -o a.npy --size 3 --footprint ball=2
try 'a radius of a ball is a number' median $m::/onepix__mask -o a.npy --footprint ball=x
try 'a footprint of zeros is refused' median $m::/onepix__mask -o a.npy --footprint $m::/empty__mask
try 'a footprint is a file that is there' median $m::/onepix__mask -o a.npy --footprint none.npy
try 'a percentile needs its number' percentile $m::/onepix__mask -o a.npy
try 'a percentile is at most 100' percentile $m::/onepix__mask -o a.npy --percentile 101
try 'a rank lies in its box' rank $m::/onepix__mask -o a.npy --rank 9
try 'a rank is a whole number' rank $m::/onepix__mask -o a.npy --rank 1.5
try 'a box of a Hampel filter is odd' hampel $m::/onepix__mask -o a.npy --size 4,3
try 'a kappa is above 0' hampel $m::/onepix__mask -o a.npy --kappa 0
try 'a median takes no kappa' median $m::/onepix__mask -o a.npy --kappa 3
try 'a Laplacian of a Gaussian needs a sigma' log $m::/onepix__mask -o a.npy
try 'a difference of Gaussians needs a second sigma' dog $m::/onepix__mask -o a.npy --sigma 1
try 'an axis is one of the image' sobel $m::/onepix__mask -o a.npy --axis 2
try 'a border value is one of the image'\''s type' median $m::/onepix__mask -o a.npy --border value=300
try 'an unknown border has a list of those that are known' median $m::/onepix__mask -o a.npy --border edge
try 'a box of a volume does not go with planes' median $small -o a.npy --planes --size 3,3,3
try 'planes need a volume' median $m::/onepix__mask -o a.npy --planes --size 3
try 'a filter writes no text' median $m::/onepix__mask -o a.txt
try 'an image that is not there is named' median nothing.npy -o a.npy
expect 'nothing is written'
[ ! -e a.npy ] || echo a.npy
try 'a filter writes no packed FITS file' median $m::/onepix__mask -o a.fits.gz
for given in zzz '-o x.npy --size 3'; do expect "the list of filters refuses $given"; $airy filter --list $given; echo $?; done
expect 'the list of calibrants refuses a name'
$airy calibrate --list LaB6; echo $?

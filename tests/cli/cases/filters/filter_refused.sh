m=$golden/astro/ccl_torture.h5
try() { $airy filter "$@"; echo $?; }
try
try median
try medain $m::/onepix__mask -o a.npy
try bilateral $m::/onepix__mask -o a.npy
try median $m::/onepix__mask
try median $m::/onepix__mask $m::/onepix__mask -o a.npy
try median $m::/onepix__mask -o a.npy --sigma 2
try laplace $m::/onepix__mask -o a.npy --size 3
try median $m::/onepix__mask -o a.npy --dtype float32
try median $m::/onepix__mask -o a.npy --size 0
try median $m::/onepix__mask -o a.npy --size 2.5
try median $m::/onepix__mask -o a.npy --size 3,3,3
try median $m::/onepix__mask -o a.npy --size 3 --footprint ball=2
try median $m::/onepix__mask -o a.npy --footprint ball=x
try median $m::/onepix__mask -o a.npy --footprint $m::/empty__mask
try median $m::/onepix__mask -o a.npy --footprint none.npy
try percentile $m::/onepix__mask -o a.npy
try percentile $m::/onepix__mask -o a.npy --percentile 101
try rank $m::/onepix__mask -o a.npy --rank 9
try rank $m::/onepix__mask -o a.npy --rank 1.5
try hampel $m::/onepix__mask -o a.npy --size 4,3
try hampel $m::/onepix__mask -o a.npy --kappa 0
try median $m::/onepix__mask -o a.npy --kappa 3
try log $m::/onepix__mask -o a.npy
try dog $m::/onepix__mask -o a.npy --sigma 1
try sobel $m::/onepix__mask -o a.npy --axis 2
try median $m::/onepix__mask -o a.npy --border value=300
try median $m::/onepix__mask -o a.npy --border edge
try median $small -o a.npy --planes --size 3,3,3
try median $m::/onepix__mask -o a.npy --planes --size 3
try median $m::/onepix__mask -o a.txt
try median nothing.npy -o a.npy
[ ! -e a.npy ]
try median $m::/onepix__mask -o a.fits.gz
# a list has nothing to work on
for given in zzz '-o x.npy --size 3'; do $airy filter --list $given; echo $?; done
$airy calibrate --list LaB6; echo $?

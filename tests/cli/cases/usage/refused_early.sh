# values that the library would refuse are wrong use, and files that do not fit are said to be, before a device is named
unset AIRY_DEVICE
$airy simulate sky a.npy --height 8 --width 9 --quiet
cp $small s.h5
$airy convert $golden/astro/ks_cases.h5::/even_median -o line.npy --quiet
$airy reduce $small --by max -o count.npy --quiet
try() { $airy "$@" -o o.npy 2>&1; echo $?; }
# of the options alone: the image is not there
try blur none.npy --sigma 200
try blur none.npy --sigma 0,1,129
try blur none.npy --sigma 1 --truncate 600
try blur none.npy --sigma 1e300
try filter log none.npy --sigma 200
try filter dog none.npy --sigma 1 --sigma2 200
# of the image
try filter median a.npy --size 1025
try filter hampel a.npy --size 1025
try filter rank a.npy --size 1025 --rank 1
try filter rank a.npy --footprint ball=1 --rank 5
try filter median count.npy --border value=-1
try filter hampel count.npy --border value=0.5
try filter median count.npy --border value=nan
$airy filter minimum a.npy --size 1025 -o o.npy --quiet --device cpu; echo $?
$airy filter percentile a.npy --percentile 100 --size 1025 -o o.npy --force --quiet --device cpu; echo $?
$airy blur a.npy --sigma 128 -o o.npy --force --quiet --device cpu; echo $? && rm o.npy
# files
try convolve a.npy --kernel s.h5
try convolve s.h5 --kernel line.npy
try convolve a.npy --kernel count.npy --mode valid
try filter median s.h5 --quiet --footprint line.npy

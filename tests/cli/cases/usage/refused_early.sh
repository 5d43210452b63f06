# Values that the library would refuse are wrong use, and files that do not fit are reported, before a device is named.
. "$cli/check.sh"
unset AIRY_DEVICE
$airy simulate sky a.npy --height 8 --width 9 --quiet
cp $small s.h5
$airy convert $golden/astro/ks_cases.h5::/even_median -o line.npy --quiet
$airy reduce $small --by max -o count.npy --quiet
try() { expect "$1"; shift; $airy "$@" -o o.npy 2>&1; echo $?; }
# of the options alone: the image is not there
try 'a sigma of blur needs a radius that is too large' blur none.npy --sigma 200
try 'the last of three sigmas needs a radius that is too large' blur none.npy --sigma 0,1,129
try 'a truncation needs a radius that is too large' blur none.npy --sigma 1 --truncate 600
try 'a sigma of 1e300 needs a radius that is too large' blur none.npy --sigma 1e300
try 'a sigma of a Laplacian needs a radius that is too large' filter log none.npy --sigma 200
try 'a second sigma needs a radius that is too large' filter dog none.npy --sigma 1 --sigma2 200
# of the image
try 'a box of a median has too many elements' filter median a.npy --size 1025
try 'a box of a Hampel filter has too many elements' filter hampel a.npy --size 1025
try 'a box of a rank has too many elements' filter rank a.npy --size 1025 --rank 1
try 'a rank is beyond its footprint' filter rank a.npy --footprint ball=1 --rank 5
try 'a border of unsigned integers is not negative' filter median count.npy --border value=-1
try 'a border of integers is whole' filter hampel count.npy --border value=0.5
try 'a border of integers is no nan' filter median count.npy --border value=nan
expect 'a minimum of the largest box is taken'
$airy filter minimum a.npy --size 1025 -o o.npy --quiet --device cpu; echo $?
expect 'a percentile of 100 of the largest box is taken'
$airy filter percentile a.npy --percentile 100 --size 1025 -o o.npy --force --quiet --device cpu; echo $?
expect 'a sigma of the largest radius is taken'
$airy blur a.npy --sigma 128 -o o.npy --force --quiet --device cpu; echo $? && rm o.npy
# files
try 'a kernel has too many dimensions' convolve a.npy --kernel s.h5
try 'a kernel has too few dimensions' convolve s.h5 --kernel line.npy
try 'a kernel is larger than its image' convolve a.npy --kernel count.npy --mode valid
try 'a footprint has too few dimensions' filter median s.h5 --quiet --footprint line.npy

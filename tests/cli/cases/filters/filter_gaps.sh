# bad pixels of blur and convolve: NaN that spread, or left out
. "$cli/check.sh"
npy() { # DTYPE COUNT; bytes follow
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': ($2,)}"
}
{ npy '<i4' 4; printf '\1\0\0\0\2\0\0\0\377\377\377\377\4\0\0\0'; } >whole.npy # 1 2 -1 4
{ npy '<f4' 4; printf '\0\0\200\77\0\0\0\100\0\0\300\177\0\0\200\100'; } >nan.npy # 1 2 NaN 4
{ npy '|u1' 4; printf '\0\0\1\0'; } >mask.npy
{ npy '|u1' 3; printf '\1\2\1'; } >kernel.npy
{ npy '|i1' 3; printf '\377\4\377'; } >sharpen.npy
convolve="--kernel kernel.npy --mode same --border nearest"
# (1+2+2)/4, (1+4)/3, (2+4)/2, (8+4)/3
expect 'normalized sums leave out NaN'
$airy convolve nan.npy $convolve --normalize -o want.npy --quiet
$airy stats want.npy | grep -E 'count|min|max|sum'
expect 'a dummy value is left out as NaN are'
$airy convolve whole.npy $convolve --normalize --dummy=-1 -o dummy.npy --quiet
$airy diff want.npy dummy.npy
expect 'a mask is left out as NaN are'
$airy convolve whole.npy $convolve --normalize --mask mask.npy -o mask_.npy --quiet
$airy diff want.npy mask_.npy
expect 'double precision has the digits of the quotients'
$airy convolve whole.npy $convolve --normalize --mask mask.npy --dtype float64 -o wide.npy --quiet
$airy stats wide.npy | grep -E 'nan|sum'
expect 'NaN spread as far as the kernel reaches, with a warning'
$airy convolve whole.npy $convolve --mask mask.npy -o spread.npy
$airy stats spread.npy | grep -E '"nan'
expect 'a value that detectors write into gaps has a warning'
$airy blur whole.npy --sigma 1 -o a.npy
expect 'an image without good pixels is NaN'
$airy blur whole.npy --sigma 0.5 --dummy 0 --delta-dummy 9 --normalize -o none.npy; echo $?
$airy stats none.npy | grep -E '"nan'
expect 'a border with a value is good'
$airy blur whole.npy --sigma 0.5 --dummy 0 --delta-dummy 9 --normalize --border value=5 -o five.npy; echo $?
$airy stats five.npy | grep count
expect 'a kernel of negative elements does not normalize'
$airy convolve nan.npy --kernel sharpen.npy --normalize -o a.npy --force; echo $?
expect 'the fast Fourier transform does not normalize'
$airy convolve nan.npy --kernel mask.npy --normalize --algorithm fft -o a.npy --force; echo $?
expect 'a tolerance needs a dummy value'
$airy blur nan.npy --sigma 1 --delta-dummy 3 -o a.npy --force; echo $?
expect 'a mask has the shape of its image'
$airy blur nan.npy --sigma 1 --mask kernel.npy -o a.npy --force; echo $?
# wrong use, before any file is looked at
expect 'a border of NaN is wrong use'
$airy convolve no.npy --kernel no.npy --normalize --border value=nan -o a.npy; echo $?
expect 'a border of infinity is wrong use'
$airy blur no.npy --sigma 1 --normalize --border value=-inf -o a.npy; echo $?
# a gap in whose middle float has no weights left that are numbers of full precision; double has
expect 'a wide gap has NaN in its middle'
{ npy '<f4' 48; for i in 1 2 3; do printf '\0\0\340\100'; done; for i in $(seq 42); do printf '\0\0\300\177'; done; for i in 1 2 3; do printf '\0\0\340\100'; done; } >far.npy # 7
$airy blur far.npy --sigma 1.05 --truncate 20 --normalize -o far_.npy
$airy stats far_.npy | awk '/"(nan|min|max)"/ { printf "%s %.4f\n", $1, $2 }'
expect 'a wide gap has numbers in double precision'
$airy blur far.npy --sigma 1.05 --truncate 20 --normalize --dtype float64 -o wide_.npy
$airy stats wide_.npy | grep -E '"nan"'

# how far NaN have spread is said
npy() { # DTYPE; bytes follow: 5 x 5
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': (5, 5)}"
}
zeros() { # NUMBERS
    head -c $((4 * $1)) /dev/zero
}
{ npy '<f4'; zeros 12; printf '\0\0\300\177'; zeros 12; } >gap.npy
{ npy '<f4'; zeros 25; } >none.npy
{ npy '<i4'; zeros 25; } >whole.npy
for image in gap none whole; do
    $airy blur $image.npy --sigma 0.3 -o b.npy --force
    $airy convolve $image.npy --kernel none.npy --mode same -o c.npy --force --quiet
    $airy filter laplace $image.npy -o f.npy --force
    $airy filter maximum $image.npy -o f.npy --force
    $airy filter minimum $image.npy -o f.npy --force
done
$airy convolve gap.npy --kernel none.npy --mode valid -o c.npy --force
# a smaller result has fewer of them, and may have no others
for row in 1 2 3 4 5; do zeros 1 && printf '\0\0\300\177\0\0\300\177\0\0\300\177\0\0\300\177'; done >rows
{ npy '<f4' && cat rows; } >wide.npy
$airy convolve wide.npy --kernel none.npy --mode valid -o c.npy --force

# which device was taken is said before the result
unset AIRY_DEVICE
ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
export ASAN_OPTIONS
$airy integrate $small -o y.h5 2>said || exit 1
head -n 1 said | grep -q 'by default' && tail -n 1 said | grep -q 'y.h5: 8 frames in'

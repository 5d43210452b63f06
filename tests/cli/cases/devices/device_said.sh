# which device was taken is said before the result
unset AIRY_DEVICE
ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
export ASAN_OPTIONS
$airy integrate $small -o y.h5 2>said || exit 1
head -n 1 said | grep -q 'by default' && tail -n 1 said | grep -q 'y.h5: 8 frames in'
# before the work: a run that fails has said it, too
$airy integrate $small --frames 0:4 --device cpu -o y.h5 2>said
[ $? = 1 ] && [ "$(wc -l <said)" = 1 ] || { cat said >&2; exit 2; }
$airy integrate $small --batch 1 --frames 0 --explain | grep -q '^run  *1 frame, 1 row, batch 1, 1 slot, 1 reader$'

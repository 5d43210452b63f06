$helper image mask.h5 195 487 1
$airy integrate $small --mask mask.h5 -o y.h5

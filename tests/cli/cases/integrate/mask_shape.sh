$helper image mask.h5 10 10 0
$airy integrate $small --mask mask.h5 -o y.h5

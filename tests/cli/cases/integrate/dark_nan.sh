$helper image dark.h5 195 487 nan
$airy integrate $small --dark dark.h5 -o y.h5

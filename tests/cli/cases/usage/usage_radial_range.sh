$airy integrate $small --radial-range 5,3 -o y.h5

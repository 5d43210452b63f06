$airy integrate $small --frames 5:9 -o y.h5

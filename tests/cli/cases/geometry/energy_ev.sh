$airy integrate $small --energy 12000 -o y.h5

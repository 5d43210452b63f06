$airy integrate $small --poni none.poni -o y.h5

$airy integrate $small --device gpu:77 -o y.h5

$airy integrate $small --device gpu:all -o y.h5

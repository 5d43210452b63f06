$airy integrate $small --device cpu,cpu -o y.h5

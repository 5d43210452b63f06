$airy integrate x.h5 --roi 1,2 -o y.h5

$airy integrate x.h5 --bins 0 -o y.h5

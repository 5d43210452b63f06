$airy integrate x.h5 --bins 100x36 -o y.h5

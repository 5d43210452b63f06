$airy integrate x.h5 --bin 3 -o y.h5

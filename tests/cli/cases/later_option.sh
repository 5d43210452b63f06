$airy integrate x.h5 --clip 3 -o y.h5

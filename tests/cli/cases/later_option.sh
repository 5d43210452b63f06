$airy integrate x.h5 --follow -o y.h5

$airy integrate x.h5 --dummy -10 -o y.h5

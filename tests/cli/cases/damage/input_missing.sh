$airy integrate nothing-here.h5 -o y.h5

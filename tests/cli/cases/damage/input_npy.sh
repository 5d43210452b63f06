$airy integrate frames.npy -o y.h5

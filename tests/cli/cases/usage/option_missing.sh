$airy view x.h5

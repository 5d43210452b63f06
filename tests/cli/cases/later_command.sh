$airy watch x.h5

$airy compress $small y.h5 --block 1000

$airy integrate $small -o no-such-folder/y.h5

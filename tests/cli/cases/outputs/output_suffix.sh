$airy integrate $small -o y.tif

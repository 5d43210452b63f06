$airy integrate $small --detector eiger_4M -o y.h5

$airy integrate $small --layout threaded -o y.h5

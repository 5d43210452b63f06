$airy integrate $small --layout processes -o y.h5

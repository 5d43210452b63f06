$airy integrate $small --memory-limit 100K -o y.h5

$airy integrate $small -o all.h5 --quiet && $airy integrate $small --frames 3:6 -o part.h5 --quiet && $helper rows all.h5 part.h5 3 3

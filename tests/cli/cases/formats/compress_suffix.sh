$airy compress $small a2.npy

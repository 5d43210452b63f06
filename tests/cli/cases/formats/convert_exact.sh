$airy convert $small -o a.npy --quiet && $airy convert a.npy -o b.h5 --quiet && $airy convert b.h5 -o c.npy --quiet && cmp a.npy c.npy

$airy decompress $small plain.h5 --quiet
$airy convert $small -o frames.npy --quiet
$airy convert frames.npy -o bare.h5 --quiet
$airy integrate bare.h5 --detector pilatus_100k --dist 0.1 -o y.h5

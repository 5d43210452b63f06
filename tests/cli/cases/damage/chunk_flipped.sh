cp $small bad.h5
$helper damage bad.h5 /entry/data/data 5 flip
$airy integrate bad.h5 -o y.h5

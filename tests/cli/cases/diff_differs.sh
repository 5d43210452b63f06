$airy integrate $small --bins 60 -o a.h5 --quiet
$airy integrate $small --bins 60 -o b.h5 --normalization 2 --quiet
$airy diff a.h5 b.h5 --dataset /entry/integrate/result/intensity

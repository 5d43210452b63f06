for bins in 10 20; do $airy integrate $small --poni ${small%.h5}.poni --bins $bins -o $bins.h5 --quiet || exit 2; done
$airy diff 10.h5 20.h5 | grep -q 'result/intensity: shapes differ: 8 x 10 and 8 x 20$' || exit 3
$airy integrate $small --bins 60 -o a.h5 --quiet
$airy integrate $small --bins 60 -o b.h5 --normalization 2 --quiet
$airy diff a.h5 b.h5 --dataset /entry/integrate/result/intensity

# a dataset that one result lacks is no equality, in whichever order the two are named
$airy integrate $small --bins 20 -o a.h5 --quiet || exit 3
$airy integrate $small --bins 20 --error-model poisson -o b.h5 --quiet || exit 3
for pair in "a.h5 b.h5" "b.h5 a.h5" "$small a.h5" "a.h5 $small"; do
    $airy diff $pair 2>&1 >out | sed "s|$small|small.h5|g"
    $airy diff $pair >out 2>err
    echo $? $(wc -l <out)
done

cp $small bad.h5
$helper damage bad.h5 /entry/data/data 3 truncate
$airy integrate bad.h5 -o y.h5
code=$?
[ ! -e y.h5 ] || echo 'the output is there'
exit $code

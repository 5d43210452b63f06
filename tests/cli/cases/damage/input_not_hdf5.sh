echo 'these are only words' >text.h5
$airy integrate text.h5 -o y.h5

# nothing to resume
$airy integrate $small -o y.h5 --resume

$helper strings strings.h5
$airy integrate strings.h5::/names -o y.h5

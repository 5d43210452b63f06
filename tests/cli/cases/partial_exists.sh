echo x >y.h5.partial
$airy integrate $small -o y.h5

grep -v Distance "${small%.h5}.poni" >bad.poni
$airy integrate $small --poni bad.poni -o y.h5

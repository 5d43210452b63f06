for value in -1 nan 1e999; do
    sed "s/^Distance:.*/Distance: $value/" "${small%.h5}.poni" >bad.poni
    $airy integrate $small --poni bad.poni -o y.h5
done

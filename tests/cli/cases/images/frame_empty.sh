# a frame without a pixel that counts is a row without values, and a line on standard error says so
frame() { # OCTAL
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (195, 487)}"
    head -c 94965 /dev/zero | tr '\0' "\\$1"
}
frame 5 >low.npy
frame 144 >high.npy
run() { $airy integrate "$@" --poni ${small%.h5}.poni --saturation 50 --mask-saturated; }
for bins in 20 20000; do run low.npy high.npy --bins $bins -o one_$bins.h5; done
run high.npy low.npy high.npy --bins 20 --sum 2 -o two.h5
run high.npy low.npy high.npy --bins 20 -o two.dat
run high.npy low.npy high.npy --bins 20 --frames 1 -o none.h5
for v in 0 -1; do
    $airy integrate low.npy --poni ${small%.h5}.poni --saturation $v -o no.h5
    echo $?
done

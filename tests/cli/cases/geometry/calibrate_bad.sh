# each wrong use of airy calibrate and of simulate --calibrant has its message
printf '\223NUMPY\001\000v\000{"descr": "<f4", "fortran_order": False, "shape": (3, 3)}%60s\n' '' | tr '"' "'" >small.npy
head -c 36 /dev/zero >>small.npy
true="--detector pilatus_300k --dist 0.12 --poni1 0.05 --poni2 0.04 --wavelength 0.6e-10"
$airy simulate diffraction rings.h5 --frames 1 $true --calibrant LaB6 --seed 3 --write-poni true.poni --quiet || exit 1
$airy convert rings.h5 -o plain.npy --quiet || exit 1
$airy simulate diffraction flat.h5 --frames 1 $true --calibrant LaB6 --scale 1e-9 --quiet || exit 1
try() { $airy calibrate "$@" >/dev/null; echo $?; }
try
try rings.h5 -o x.poni
try rings.h5 --calibrant LaB6
try plain.npy --calibrant LaB6 -o x.poni
try plain.npy --calibrant LaB6 -o x.poni --dist 0.12
try plain.npy --calibrant LaB6 -o x.poni --dist 0.12 --energy 20
try plain.npy --calibrant LaB6 -o x.poni --dist 0.12 --energy 20 --center 5
try small.npy --calibrant LaB6 -o x.poni --dist 0.12 --energy 20 --center 5,5
try rings.h5 --calibrant LaB6 -o x.poni --dist 0.12 --energy 20 --center 5,5 --poni1 0.1 --poni2 0.1
try rings.h5 --calibrant LaB7 -o x.poni --guess true.poni
try rings.h5 --calibrant none.D -o x.poni --guess true.poni
printf '4.1\nfour\n' >bad.D
try rings.h5 --calibrant bad.D -o x.poni --guess true.poni
try rings.h5 --calibrant LaB6 -o x.poni --guess none.poni
try rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --poni true.poni
try rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --detector eiger_4M
try rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --fix rot9
try rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --free rot3
try rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --fix dist,poni1,poni2,rot1,rot2
try rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --no-search --search 10
try rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --plot x.svg
try rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --frame 1
try rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --mask none.npy
try rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --max-residual 0.001
try rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --wavelength 9e-10
try rings.h5 --calibrant lysozyme -o x.poni --guess true.poni
try flat.h5 --calibrant LaB6 -o x.poni --guess true.poni
try none.h5 --calibrant LaB6 -o x.poni --guess true.poni
try rings.h5 --calibrant LaB6 -o rings.h5 --guess true.poni
$airy simulate diffraction y.h5 --ring-width 3; echo $?
$airy simulate diffraction y.h5 --calibrant LaB6 --curve true.poni; echo $?
$airy simulate diffraction y.h5 --calibrant nothing; echo $?
ls | grep -e '^x' -e '^y'
true

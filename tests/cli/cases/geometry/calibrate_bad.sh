# Each wrong use of airy calibrate and of simulate --calibrant has its message.
. "$cli/check.sh"
printf '\223NUMPY\001\000v\000{"descr": "<f4", "fortran_order": False, "shape": (3, 3)}%60s\n' '' | tr '"' "'" >small.npy
head -c 36 /dev/zero >>small.npy
true="--detector pilatus_300k --dist 0.12 --poni1 0.05 --poni2 0.04 --wavelength 0.6e-10"
$airy simulate diffraction rings.h5 --frames 1 $true --calibrant LaB6 --seed 3 --write-poni true.poni --quiet || exit 1
$airy convert rings.h5 -o plain.npy --quiet || exit 1
$airy simulate diffraction flat.h5 --frames 1 $true --calibrant LaB6 --scale 1e-9 --quiet || exit 1
try() { expect "$1"; shift; $airy calibrate "$@" >/dev/null; echo $?; }
try 'calibrate needs an image'
try 'calibrate needs a calibrant' rings.h5 -o x.poni
try 'calibrate needs an output' rings.h5 --calibrant LaB6
try 'a guess needs a distance' plain.npy --calibrant LaB6 -o x.poni
try 'a guess needs a wavelength or an energy' plain.npy --calibrant LaB6 -o x.poni --dist 0.12
try 'a guess needs a beam centre' plain.npy --calibrant LaB6 -o x.poni --dist 0.12 --energy 20
try 'a beam centre has two numbers' plain.npy --calibrant LaB6 -o x.poni --dist 0.12 --energy 20 --center 5
try 'an image of no known shape needs a detector' small.npy --calibrant LaB6 -o x.poni --dist 0.12 --energy 20 --center 5,5
try 'a beam centre and poni1 exclude each other' rings.h5 --calibrant LaB6 -o x.poni --dist 0.12 --energy 20 --center 5,5 --poni1 0.1 --poni2 0.1
try 'a misspelt calibrant is recognized' rings.h5 --calibrant LaB7 -o x.poni --guess true.poni
try 'a file of spacings that is not there is named' rings.h5 --calibrant none.D -o x.poni --guess true.poni
printf '4.1\nfour\n' >bad.D
try 'a word in a file of spacings is named with its line' rings.h5 --calibrant bad.D -o x.poni --guess true.poni
try 'a guess that is not there is named' rings.h5 --calibrant LaB6 -o x.poni --guess none.poni
try 'a guess and a geometry exclude each other' rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --poni true.poni
try 'a detector has the shape of its frames' rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --detector eiger_4M
try 'an unknown parameter cannot be fixed' rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --fix rot9
try 'the turn about the beam cannot be refined' rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --free rot3
try 'a calibration needs a parameter to refine' rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --fix dist,poni1,poni2,rot1,rot2
try 'a search and none exclude each other' rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --no-search --search 10
try 'a plot is a PNG' rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --plot x.svg
try 'a frame beyond the stack is refused' rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --frame 1
try 'a mask that is not there is named' rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --mask none.npy
try 'a residual that is too large is refused' rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --max-residual 0.001
try 'a wavelength beyond all spacings is refused' rings.h5 --calibrant LaB6 -o x.poni --guess true.poni --wavelength 9e-10
try 'rings that are too close are refused' rings.h5 --calibrant lysozyme -o x.poni --guess true.poni
try 'an image without rings is refused' flat.h5 --calibrant LaB6 -o x.poni --guess true.poni
try 'an image that is not there is named' none.h5 --calibrant LaB6 -o x.poni --guess true.poni
try 'the image itself is no output' rings.h5 --calibrant LaB6 -o rings.h5 --guess true.poni
expect 'a width of rings needs a calibrant'
$airy simulate diffraction y.h5 --ring-width 3; echo $?
expect 'a calibrant and a curve exclude each other'
$airy simulate diffraction y.h5 --calibrant LaB6 --curve true.poni; echo $?
expect 'an unknown calibrant has a list of those that are known'
$airy simulate diffraction y.h5 --calibrant nothing; echo $?
expect 'nothing is written'
ls | grep -e '^x' -e '^y'
true

# another wavelength than the file's is used, and a line says what the file gives
true="--detector pilatus_300k --dist 0.12 --poni1 0.05 --poni2 0.04 --wavelength 0.6e-10"
$airy simulate diffraction rings.h5 --frames 1 $true --calibrant LaB6 --seed 3 --write-poni true.poni --quiet || exit 1
sed 's/^Wavelength.*/Wavelength: 7e-11/' true.poni >other.poni
try() { $airy calibrate rings.h5 --calibrant LaB6 -o x.poni --force "$@" 2>&1 >/dev/null | grep 'the file gives' || echo nothing; }
try
try --wavelength 0.6e-10
try --wavelength 0.5e-10
try --energy 12.4
try --guess other.poni
try --poni other.poni

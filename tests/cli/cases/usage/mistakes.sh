# one line that says what, where and what to do; the exit code; nothing half-written
$airy convert $small --frames 0 -o image.npy --quiet && $airy simulate sky sky.fits --height 32 --width 48 --quiet || exit 1
$airy sources sky.fits --catalog field.fits --quiet >/dev/null && $airy integrate $small -o p.h5 --bins 40 --quiet && $airy convert p.h5::/entry/integrate/result/radial -o line.npy --quiet || exit 1
mkdir folder folder.h5 folder.npy shut && chmod 555 shut
poni=${small%.h5}.poni
grep -v Wavelength "$poni" >dark.poni && echo text >text.json && : >empty.npy
printf 'SIMPLE' >text.fits && head -c 1000 image.npy >cut.npy
code=0
try() {
    want=$1
    shift
    $airy "$@" 2>said >/dev/null
    got=$?
    sed '/by default; --device/d; s/ \.tif,//' said # where the build has it
    [ $got = $want ] && [ "$(grep -vc 'by default; --device' said)" = 1 ] || { echo "exit code $got: $*"; cat said; code=2; }
}
# outputs: a folder, in a folder that is not there (before any work), a suffix, nothing, standard output
try 1 integrate $small -o folder.h5 --force
try 1 blur image.npy --sigma 1 -o folder.npy --force
try 1 blur image.npy --sigma 1 -o no/blurred.npy
try 1 simulate diffraction no/s.h5
try 1 simulate oct no/s.raw
try 1 stats image.npy --profile=no/p.json
try 2 convert image.npy -o image.foo
try 2 convert image.npy -o ''
try 2 convert image.npy -o -
# inputs
try 1 stats folder
try 1 integrate folder -o o.h5
try 1 integrate 'none_*.cbf' -o o.h5
try 1 stats ''
try 1 stats empty.npy
try 1 stats cut.npy
try 1 stats text.fits
try 1 stats image.npy::/data
try 1 view line.npy -o o.png
try 1 calibrate line.npy --calibrant LaB6 -o o.poni
try 1 stats field.fits
try 1 sky image.npy --pixels 1,1
# geometry
try 1 integrate $small --poni dark.poni -o o.h5
try 1 integrate $small --detector nonesuch -o o.h5
try 1 integrate $small --binning 2x2 -o o.h5
try 2 integrate $small --sensor Si,3e-4 -o o.h5
try 2 integrate $small --attenuation 4000 -o o.h5
try 1 integrate $small --config text.json -o o.h5
set -- o.* no/* *.partial
[ "$*" = 'o.* no/* *.partial' ] || { echo "written: $*"; code=3; }
# files that are full name themselves and say what can be done
(ulimit -f 8; trap '' XFSZ; $airy convert image.npy -o full.fits) 2>&1
(ulimit -f 8; trap '' XFSZ; $airy simulate oct full.raw --frames 1 --lines 64) 2>&1
[ -w shut ] || $airy convert image.npy -o shut/a.npy 2>&1 | grep -v "nothing can be written into 'shut/'"
[ ! -e full.fits ] && [ ! -e full.raw ] || code=4
exit $code

# One line that says what, where and what to do; the exit code; nothing half-written.
. "$cli/check.sh"
$airy convert $small --frames 0 -o image.npy --quiet && $airy simulate sky sky.fits --height 32 --width 48 --quiet || exit 1
$airy sources sky.fits --catalog field.fits --quiet >/dev/null && $airy integrate $small -o p.h5 --bins 40 --quiet && $airy convert p.h5::/entry/integrate/result/radial -o line.npy --quiet || exit 1
mkdir folder folder.h5 folder.npy shut && chmod 555 shut
poni=${small%.h5}.poni
grep -v Wavelength "$poni" >dark.poni && echo text >text.json && : >empty.npy
printf 'SIMPLE' >text.fits && head -c 1000 image.npy >cut.npy
code=0
try() { # SENTENCE WANT COMMAND...
    expect "$1" && want=$2
    shift 2
    $airy "$@" 2>said >/dev/null
    got=$?
    sed '/by default; --device/d; s/ \.tif,//' said # where the build has it
    [ $got = $want ] && [ "$(grep -vc 'by default; --device' said)" = 1 ] || { echo "exit code $got: $*"; cat said; code=2; }
}
# outputs: a folder, in a folder that is not there (before any work), a suffix, nothing, standard output
try 'an output that is a folder is refused' 1 integrate $small -o folder.h5 --force
try 'an image whose output is a folder is refused' 1 blur image.npy --sigma 1 -o folder.npy --force
try 'a folder that is not there is named before the work' 1 blur image.npy --sigma 1 -o no/blurred.npy
try 'a folder of simulated frames that is not there is named' 1 simulate diffraction no/s.h5
try 'a folder of simulated spectra that is not there is named' 1 simulate oct no/s.raw
try 'a folder of a profile that is not there is named' 1 stats image.npy --profile=no/p.json
try 'an unknown suffix has a list of those that are known' 2 convert image.npy -o image.foo
try 'an output without a name is refused' 2 convert image.npy -o ''
try 'standard output takes no image' 2 convert image.npy -o -
# inputs
try 'a folder is no image' 1 stats folder
try 'a folder is no stack' 1 integrate folder -o o.h5
try 'a pattern of no file is refused' 1 integrate 'none_*.cbf' -o o.h5
try 'an input without a name is refused' 1 stats ''
try 'an empty file is no NPY file' 1 stats empty.npy
try 'an NPY file that was cut off is refused' 1 stats cut.npy
try 'a text is no FITS file' 1 stats text.fits
try 'a dataset of a file that is no HDF5 is refused' 1 stats image.npy::/data
try 'a line of numbers is no picture' 1 view line.npy -o o.png
try 'a line of numbers is no image of rings' 1 calibrate line.npy --calibrant LaB6 -o o.poni
try 'a FITS table is no image' 1 stats field.fits
try 'an image without FITS header has no place in the sky' 1 sky image.npy --pixels 1,1
# geometry
try 'a unit that needs a wavelength asks for it' 1 integrate $small --poni dark.poni -o o.h5
try 'an unknown detector is refused' 1 integrate $small --detector nonesuch -o o.h5
try 'a binning that does not fit the detector is refused' 1 integrate $small --binning 2x2 -o o.h5
try 'a sensor alone is refused' 2 integrate $small --sensor Si,3e-4 -o o.h5
try 'an attenuation alone is refused' 2 integrate $small --attenuation 4000 -o o.h5
cp "${small%.h5}.poni" g.poni && $airy integrate $small --poni g.poni --one-table --bins 9 -o table.xy --quiet || exit 1
try 'a geometry is no configuration' 1 integrate $small --config g.poni -o o.h5
try 'a geometry is no stack' 1 integrate g.poni -o o.h5
try 'a table of several patterns is not compared' 2 diff table.xy table.xy
try 'a table of several patterns is not drawn' 1 plot table.xy -o table.png
try 'a configuration that is no JSON is refused' 1 integrate $small --config text.json -o o.h5
echo '{"command": "integrate", "options": ["--bins=9"], "options": []}' >twice.json
try 'a configuration that has a key twice is refused' 1 integrate $small --config twice.json -o o.h5
expect 'nothing is written'
set -- o.* no/* *.partial
[ "$*" = 'o.* no/* *.partial' ] || { echo "written: $*"; code=3; }
expect 'a file that reached its size limit says what was not written'
(ulimit -f 8; trap '' XFSZ; $airy convert image.npy -o full.fits) 2>&1 | cat # the output of this case is larger
expect 'spectra that reached the size limit say what was not written'
(ulimit -f 8; trap '' XFSZ; $airy simulate oct full.raw --frames 1 --lines 64) 2>&1 | cat # the output of this case is larger
expect 'a folder without permission to write is named'
[ -w shut ] || $airy convert image.npy -o shut/a.npy 2>&1 | grep -v "nothing can be written into 'shut/'"
expect 'no output that failed is there'
[ ! -e full.fits ] && [ ! -e full.raw ] || code=4
exit $code

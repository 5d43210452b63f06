# Wrong use is exit code 2, and reported before an output that is there already.
. "$cli/check.sh"
$airy simulate sky im.npy --height 16 --width 16 --quiet || exit 1
echo precious >there.npy && cp there.npy there.h5 && cp there.npy there.csv && cp there.npy there.png && cp there.npy there.poni || exit 1
code=0
try() { # SENTENCE WANT COMMAND...
    expect "$1" && want=$2
    shift 2
    $airy "$@" 2>said >/dev/null
    got=$?
    cat said
    [ $got = "$want" ] || { echo "exit code $got: $*" && code=2; }
}
try 'blur needs a sigma' 2 blur im.npy -o there.npy
try 'a sigma of blur is a number' 2 blur im.npy --sigma 1x2 -o there.npy
try 'a sigma of blur is above 0' 2 blur im.npy --sigma 0 -o there.npy
try 'blur writes no integers' 2 blur im.npy --sigma 1 --dtype int8 -o there.npy
try 'convolve needs a kernel' 2 convolve im.npy -o there.npy
try 'filter names the list of filters' 2 filter foo im.npy -o there.npy
try 'filter needs an image' 2 filter median -o there.npy
try 'a difference of Gaussians needs a second sigma' 2 filter dog im.npy --sigma 1 -o there.npy
try 'a box of a median has a size of at least 1' 2 filter median im.npy --size 0 -o there.npy
try 'a box of a Hampel filter is odd' 2 filter hampel im.npy --size 4 -o there.npy
try 'a radius of a footprint is not negative' 2 filter median im.npy --footprint ball=-1 -o there.npy
try 'a box of planes has at most two sizes' 2 filter median im.npy --size 3,3,3 --planes -o there.npy
try 'threshold needs a number' 2 threshold im.npy -o there.npy
try 'label takes one threshold' 2 label im.npy --above 1 --sigma 2 -o there.npy
try 'sources has the connectivities of planes' 2 sources im.npy --connectivity 6 --catalog there.csv
try 'reduce needs an output' 2 reduce im.npy --profile=there.npy
try 'calibrate needs a calibrant' 2 calibrate im.npy -o there.poni
try 'a patch of peaks is odd' 2 peaks im.npy --patch 4 -o there.h5
try 'view takes a tolerance with a dummy value only' 2 view im.npy --delta-dummy 1 -o there.png
try 'limits of a plot rise' 2 plot im.npy --x-range 2,1 -o there.png
try 'merge takes one way to merge' 2 merge im.npy --average --sum -o there.h5
try 'densify takes a seed with noise only' 2 densify im.npy --seed 1 -o there.h5
try 'compress writes HDF5 files' 2 compress im.npy there.npy
try 'oct needs a plan' 2 oct im.npy -o there.h5
try 'oct calibrate takes a distance between two mirrors only' 2 oct calibrate im.npy --distance 1 -o there.png
try 'simulate takes a background with a calibrant only' 2 simulate diffraction there.h5 --background 1
try 'a comparison needs two devices' 2 blur im.npy --sigma 1 -o there.npy --compare cpu
for file in there.h5 there.xye; do
    [ -e $file ] || cp there.npy $file
    try "limits of radii rise, beside $file" 2 integrate $small -o $file --radial-range 5,2
    try "pseudo splitting has two dimensions, beside $file" 2 integrate $small -o $file --split pseudo --error-model poisson
    try "a mask is one of two, beside $file" 2 integrate $small -o $file --mask im.npy --mask-only im.npy
done
try 'a text with errors has a model of them' 2 integrate $small -o there.xye
try 'chi begins at zero in angles about the beam' 2 integrate $small -o there.h5 --chi-zero --azimuthal qoop_nm^-1
try 'options of streams are for streams' 2 integrate $small -o there.h5 --drop
try 'a region of interest has limits that rise' 2 integrate $small -o there.h5 --roi 2,1
try 'limits of radii of peaks rise' 2 peaks $small -o there.h5 --radial-range 5,2
try 'neighbours of peaks lie in their patch' 2 peaks $small -o there.h5 --connected 20
try 'sums of frames are none of a growing stack' 2 integrate $small -o there.h5 --follow --sum 2
try 'files of ranks hold no map' 2 integrate $small -o there.h5 --per-rank --grid 2x4
try 'depths of a map rise' 2 oct $small --plan there.h5 -o there.h5 --enface there.png,5:2
try 'a reflector has a reflectivity' 2 simulate oct there.h5 --reflectors 5
try 'wavelengths of a polynomial are above 0' 2 simulate oct there.h5 --wavelengths 0
try 'a right command does not replace its output' 1 blur im.npy --sigma 1 -o there.npy
try 'a right comparison does not replace its output' 1 filter median im.npy -o there.npy --compare cpu,cpu
expect 'no output was touched'
[ "$(cat there.* | uniq)" = precious ] && exit $code

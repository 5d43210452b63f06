. "$cli/check.sh"
try() { expect "$1"; shift; "$airy" "$@" --quiet; echo $?; }
$airy simulate sky a.npy --height 16 --width 16 --sources 0 --source none --quiet
try 'there is no method of that name' sources a.npy --method best
try 'there is no connectivity of 5' sources a.npy --method simple --connectivity 5
try 'a sigma is above 0' sources a.npy --method simple --sigma 0
try 'the smallest area is at least 1' sources a.npy --method simple --min-area 0
try 'a catalog is no text' sources a.npy --method simple --catalog a.txt
try 'a catalog and a profile are two files' sources a.npy --method simple --catalog b.csv --profile=b.csv
try 'an image of one plane has no second one' sources a.npy --method simple --frame 1
try 'an image that is not there is named' sources none.npy --method simple
touch b.csv
try 'a catalog that is there is not replaced' sources a.npy --method simple --catalog b.csv
$helper image c.h5 8 8 3 && try 'an image of one value has no noise' sources c.h5::/image --method simple
$helper image n.h5 8 8 nan && try 'an image without good pixels has no noise' sources n.h5::/image --method simple
$helper image o.h5 1 1 3 && try 'an image of one pixel has no noise' sources o.h5::/image --method simple
try 'a stack needs the number of a plane' sources $small --method simple
try 'a plane beyond the stack is refused' sources $small --method simple --frame 8
expect 'the last plane of a stack is taken'
"$airy" sources $small --method simple --frame 7 --quiet | grep -c sources
head -c 3000 $golden/astro/fitsvariants/f8.fits >cut.fits
expect 'a FITS file that was cut off is refused'
case $($airy --version --verbose) in *"fits: written only"*) echo 1 ;; *) "$airy" sources cut.fits --method simple --quiet 2>/dev/null; echo $? ;; esac
for option in "--mesh 32" --global-noise "--matched 3" "--deblend off" --clean "--apertures 3" "--gain 1" "--mask a.npy" "--compat sep" "--background x.npy" "--noise x.npy"; do
    try "the simple method does not take $option" sources a.npy --method simple $option
done
try 'a mesh is at least 2 pixels wide' sources a.npy --mesh 1
try 'a mesh is of whole numbers' sources a.npy --mesh 2.5,64
try 'deblending needs a contrast' sources a.npy --deblend 32
try 'a contrast is at most 1' sources a.npy --deblend 32,2
try 'a radius of an aperture is not negative' sources a.npy --apertures 3,-1
try 'there are at most eight apertures' sources a.npy --apertures 1,2,3,4,5,6,7,8,9
try 'no radius of an aperture is empty' sources a.npy --apertures ,
try 'a width of a matched filter is bounded' sources a.npy --matched 1e9
try 'there is no program of that name to be compatible with' sources a.npy --compat scipy
try 'a mask has the shape of its image' sources a.npy --mask c.h5::/image
try 'a background is no text' sources a.npy --background x.txt
try 'regions are no text' sources a.npy --regions x.txt

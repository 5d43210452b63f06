try() { "$airy" "$@" --quiet; echo $?; }
$airy simulate sky a.npy --height 16 --width 16 --sources 0 --source none --quiet
try sources a.npy --method best
try sources a.npy --method simple --connectivity 5
try sources a.npy --method simple --sigma 0
try sources a.npy --method simple --min-area 0
try sources a.npy --method simple --catalog a.txt
try sources a.npy --method simple --catalog b.csv --profile=b.csv
try sources a.npy --method simple --frame 1
try sources none.npy --method simple
touch b.csv; try sources a.npy --method simple --catalog b.csv
$helper image c.h5 8 8 3 && try sources c.h5::/image --method simple
$helper image n.h5 8 8 nan && try sources n.h5::/image --method simple
$helper image o.h5 1 1 3 && try sources o.h5::/image --method simple
try sources $small --method simple
try sources $small --method simple --frame 8
try sources $small --method simple --frame 7 | grep -c sources
head -c 3000 $golden/astro/fitsvariants/f8.fits >cut.fits
case $($airy --version --verbose) in *"fits: written only"*) echo 1 ;; *) try sources cut.fits --method simple 2>/dev/null ;; esac
for option in "--mesh 32" --global-noise "--matched 3" "--deblend off" --clean "--apertures 3" "--gain 1" "--mask a.npy" "--compat sep" "--background x.npy" "--noise x.npy"; do try sources a.npy --method simple $option; done
try sources a.npy --mesh 1
try sources a.npy --mesh 2.5,64
try sources a.npy --deblend 32
try sources a.npy --deblend 32,2
try sources a.npy --apertures 3,-1
try sources a.npy --apertures 1,2,3,4,5,6,7,8,9
try sources a.npy --apertures ,
try sources a.npy --matched 1e9
try sources a.npy --compat scipy
try sources a.npy --mask c.h5::/image
try sources a.npy --background x.txt
try sources a.npy --regions x.txt

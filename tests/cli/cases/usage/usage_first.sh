# wrong use is exit code 2 and told before an output that is there already
$airy simulate sky im.npy --height 16 --width 16 --quiet || exit 1
echo precious >there.npy && cp there.npy there.h5 && cp there.npy there.csv && cp there.npy there.png && cp there.npy there.poni || exit 1
code=0
try() {
    want=$1
    shift
    $airy "$@" 2>said >/dev/null
    got=$?
    cat said
    [ $got = "$want" ] || { echo "exit code $got: $*" && code=2; }
}
try 2 blur im.npy -o there.npy
try 2 blur im.npy --sigma 1x2 -o there.npy
try 2 blur im.npy --sigma 0 -o there.npy
try 2 blur im.npy --sigma 1 --dtype int8 -o there.npy
try 2 convolve im.npy -o there.npy
try 2 filter foo im.npy -o there.npy
try 2 filter median -o there.npy
try 2 filter dog im.npy --sigma 1 -o there.npy
try 2 filter median im.npy --size 0 -o there.npy
try 2 filter hampel im.npy --size 4 -o there.npy
try 2 filter median im.npy --footprint ball=-1 -o there.npy
try 2 filter median im.npy --size 3,3,3 --planes -o there.npy
try 2 threshold im.npy -o there.npy
try 2 label im.npy --above 1 --sigma 2 -o there.npy
try 2 sources im.npy --connectivity 6 --catalog there.csv
try 2 reduce im.npy --profile=there.npy
try 2 calibrate im.npy -o there.poni
try 2 peaks im.npy --patch 4 -o there.h5
try 2 view im.npy --delta-dummy 1 -o there.png
try 2 plot im.npy --x-range 2,1 -o there.png
try 2 merge im.npy --average --sum -o there.h5
try 2 densify im.npy --seed 1 -o there.h5
try 2 compress im.npy there.npy
try 2 oct im.npy -o there.h5
try 2 oct calibrate im.npy --distance 1 -o there.png
try 2 simulate diffraction there.h5 --background 1
try 2 blur im.npy --sigma 1 -o there.npy --compare cpu
# and what is right is still refused
try 1 blur im.npy --sigma 1 -o there.npy
try 1 filter median im.npy -o there.npy --compare cpu,cpu
[ "$(cat there.* | uniq)" = precious ] && exit $code

# Wrong use that the command line alone shows: exit code 2, whatever the files are.
. "$cli/check.sh"
try() { expect "$1"; want=$2; shift 2; "$airy" "$@" >said 2>&1; code=$?; [ $code = $want ] || { echo "$code: $*"; cat said; }; }
try 'sigmas of 0 blur nothing' 2 blur none.npy --sigma 0,0 -o x.npy
try 'a threshold is no nan' 2 threshold none.npy --above nan -o x.npy
try 'a threshold of labels is no nan' 2 label none.npy --above nan
for above in inf -inf -1e400; do
    try "a threshold of labels is not $above" 2 label none.npy --above=$above
    try "a threshold is not $above" 2 threshold none.npy --above=$above -o x.npy
done
try 'points that lie outside of the image are refused' 2 simulate diracs x.npy --size 10 --step 20
try 'points that just lie in the image are taken' 0 simulate diracs x.npy --size 10 --step 19
expect 'the image has one point of value 1'
[ "$($airy stats x.npy | grep -c '"max": 1.0')" = 1 ] || echo 'no 1'
for pair in '--widths 7,1' '--widths 0,1' '--amplitude 2,1' '--amplitude=-1,1'; do
    try "simulate sky refuses $pair" 2 simulate sky x.npy --force --height 8 --width 8 $pair
done
try 'limits that are equal are taken' 0 simulate sky x.npy --force --height 8 --width 8 --widths 2,2 --amplitude 1,1
rm -f x.npy
try 'threshold writes no JPEG' 2 threshold none.npy --above 1 -o x.jpg
try 'blur writes no file without a suffix' 2 blur none.npy --sigma 1 -o x
try 'convolve writes no GIF' 2 convolve none.npy --kernel none.npy -o x.gif
try 'simulate sky writes no text' 2 simulate sky x.txt
try 'stats takes a device once' 2 stats none.npy --device cpu,cpu
try 'integrate takes a device once, in any letters' 2 integrate none.h5 --device cpu,gpu:0,CPU -o x.h5
try 'plot writes no GIF' 2 plot none.h5 -o x.gif
try 'view writes no GIF' 2 view none.h5 -o x.gif
try 'a file that is not there is no wrong use' 1 blur none.npy --sigma 1 -o x.npy
# an output within an input file is that file
expect 'an HDF5 file to be changed is there'
cp $small a.h5 && cksum a.h5 >before
try 'a dataset in the input file is not written' 1 convert a.h5 -o a.h5::/other --force
try 'a dataset in another file is not written' 1 convert $small -o a.h5::/other
expect 'the input file is untouched'
cksum a.h5 | cmp - before
expect 'one sigma blurs along the frames, and says so'
$airy blur a.h5 --sigma 1 -o b.h5 2>&1; $airy blur a.h5 --sigma 1,1 -o c.h5 2>&1
expect 'a folder that is not there is named'
$airy convert a.h5 -o none/b.npy 2>&1
expect 'a limit of memory that is too small names its option'
$airy stats a.h5 --memory-limit 1M 2>&1 | grep -o '; raise.*'
expect 'the help of label says what the background is'
$airy label --help | grep -c 'background is'

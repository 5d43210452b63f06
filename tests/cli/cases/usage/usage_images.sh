# wrong use that the command line alone shows: exit code 2, whatever the files are
try() { want=$1; shift; "$airy" "$@" >said 2>&1; code=$?; [ $code = $want ] || { echo "$code: $*"; cat said; }; }
try 2 blur none.npy --sigma 0,0 -o x.npy
try 2 threshold none.npy --above nan -o x.npy
try 2 label none.npy --above nan
for above in inf -inf -1e400; do
    try 2 label none.npy --above=$above
    try 2 threshold none.npy --above=$above -o x.npy
done
try 2 simulate diracs x.npy --size 10 --step 20
try 0 simulate diracs x.npy --size 10 --step 19
[ "$($airy stats x.npy | grep -c '"max": 1.0')" = 1 ] || echo 'no 1'
for pair in '--widths 7,1' '--widths 0,1' '--amplitude 2,1' '--amplitude=-1,1'; do
    try 2 simulate sky x.npy --force --height 8 --width 8 $pair
done
try 0 simulate sky x.npy --force --height 8 --width 8 --widths 2,2 --amplitude 1,1
rm -f x.npy
try 2 threshold none.npy --above 1 -o x.jpg
try 2 blur none.npy --sigma 1 -o x
try 2 convolve none.npy --kernel none.npy -o x.gif
try 2 simulate sky x.txt
try 2 stats none.npy --device cpu,cpu
try 2 integrate none.h5 --device cpu,gpu:0,CPU -o x.h5
try 2 plot none.h5 -o x.gif
try 2 view none.h5 -o x.gif
try 1 blur none.npy --sigma 1 -o x.npy
# an output within an input file is that file
cp $small a.h5 && cksum a.h5 >before
try 1 convert a.h5 -o a.h5::/other --force
try 1 convert $small -o a.h5::/other
cksum a.h5 | cmp - before
# one sigma blurs along the frames, and says so; other messages name what was asked for
$airy blur a.h5 --sigma 1 -o b.h5 2>&1; $airy blur a.h5 --sigma 1,1 -o c.h5 2>&1
$airy convert a.h5 -o none/b.npy 2>&1
$airy stats a.h5 --memory-limit 1M 2>&1 | grep -o '; raise.*'
$airy label --help | grep -c 'background is'

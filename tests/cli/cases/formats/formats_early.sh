# A format that cannot hold the result is refused before the work: by what the options show, before any file is looked at, or by the image.
. "$cli/check.sh"
none=there_is_no_such_file.npy
expect 'a PNG cannot hold labels'
$airy label $none -o a.png; echo $?
expect 'a PNG cannot hold a blurred image'
$airy blur $none --sigma 1 -o a.png; echo $?
expect 'a CBF cannot hold a convolved image'
$airy convolve $none --kernel $none -o a.cbf; echo $?
expect 'a PNG cannot hold means'
$airy filter box $none -o a.png; echo $?
expect 'a CBF cannot hold noise'
$airy sources $none --segmentation a.npy --noise a.cbf; echo $?
expect 'a PNG cannot hold a simulated sky'
$airy simulate sky a.png; echo $?
expect 'a CBF cannot hold a kernel'
$airy simulate kernel a.cbf; echo $?
$airy simulate diffraction three.h5 --frames 3 --detector pilatus_100k --dtype uint16 --quiet
$airy convert three.h5 --frames 0 -o one.npy --quiet
expect 'a PNG cannot hold a stack'
$airy threshold three.h5 --above 3 -o a.png; echo $?
expect 'a CBF cannot hold labels of a stack'
$airy label three.h5 -o a.cbf; echo $?
expect 'a CBF holds labels of one frame'
$airy label three.h5 --frames 2 --above 50 -o one.cbf --quiet >said; echo $?
expect 'a CBF holds labels of each of one frame'
$airy label three.h5 --each --frames 2 --above 50 -o each.cbf --quiet >said; echo $?
expect 'a CBF cannot hold labels of two frames'
$airy label three.h5 --each --frames 0:2 --above 50 -o a.cbf; echo $?
rm -f said
expect 'a PNG cannot hold medians of a stack'
$airy filter median three.h5 --planes -o a.png; echo $?
expect 'a PNG holds a median of one frame'
$airy filter median one.npy -o one.png --quiet; echo $?
expect 'a PNG cannot hold means of a stack'
$airy reduce three.h5 -o a.png; echo $?
expect 'a PNG holds the maximum of a stack'
$airy reduce three.h5 --by max -o max.png --quiet; echo $?
expect 'a PNG holds the hot pixels of a stack'
$airy reduce three.h5 --hot 5 -o hot.png --quiet; echo $?
expect 'a CBF cannot hold a stack'
$airy convert three.h5 -o a.cbf; echo $?
expect 'a PNG cannot hold two frames'
$airy convert three.h5 --frames 0:2 -o a.png; echo $?
$airy simulate sky sky.npy --height 20 --width 20 --quiet
expect 'a PNG cannot hold a median of floats'
$airy filter median sky.npy -o a.png; echo $?
expect 'no other file is written'
ls
expect 'a format is refused before a damaged frame is read'
cp three.h5 bad.h5 && $helper damage bad.h5 /entry/data/data 1 flip && $airy convert bad.h5 -o a.png; echo $?
# lists name what holds the result
list() { sed -n 's/, .fits or .tif/ or .fits/; s/, .tif//; s/.*\(ends in .*\); see.*/\1/p'; }
expect 'convert lists the formats of any image'
$airy convert $none -o a.foo 2>&1 | list
expect 'threshold lists the formats of any image'
$airy threshold $none --above 1 -o a.foo 2>&1 | list
expect 'label lists the formats of labels'
$airy label $none -o a.foo 2>&1 | list
expect 'blur lists the formats of floats'
$airy blur $none --sigma 1 -o a.foo 2>&1 | list
expect 'sources lists the formats of noise'
$airy sources $none --noise a.foo 2>&1 | list
expect 'simulate sky lists the formats of floats'
$airy simulate sky a.foo 2>&1 | list
for command in convert threshold label convolve filter reduce sources; do
    expect "the help of $command lists its formats"
    $airy $command --help | tr '\n' ' ' | sed 's/  */ /g; s/, .fits or .tif/ or .fits/g; s/, .tif//g' | grep -o '[.]npy, [.]h5, [.]edf[^-(A-Z]*'
done

# a format that cannot hold the result is refused before the work: by what the options say, before any file is looked at
none=there_is_no_such_file.npy
$airy label $none -o a.png; echo $?
$airy blur $none --sigma 1 -o a.png; echo $?
$airy convolve $none --kernel $none -o a.cbf; echo $?
$airy filter box $none -o a.png; echo $?
$airy sources $none --segmentation a.npy --noise a.cbf; echo $?
$airy simulate sky a.png; echo $?
$airy simulate kernel a.cbf; echo $?
# or by the image
$airy simulate diffraction three.h5 --frames 3 --detector pilatus_100k --dtype uint16 --quiet
$airy convert three.h5 --frames 0 -o one.npy --quiet
$airy threshold three.h5 --above 3 -o a.png; echo $?
$airy label three.h5 -o a.cbf; echo $?
# of which one frame is an image
$airy label three.h5 --frames 2 --above 50 -o one.cbf --quiet >said; echo $?
$airy label three.h5 --each --frames 2 --above 50 -o each.cbf --quiet >said; echo $?
$airy label three.h5 --each --frames 0:2 --above 50 -o a.cbf; echo $?
rm -f said
$airy filter median three.h5 --planes -o a.png; echo $?
$airy filter median one.npy -o one.png --quiet; echo $?
$airy reduce three.h5 -o a.png; echo $?
$airy reduce three.h5 --by max -o max.png --quiet; echo $?
$airy reduce three.h5 --hot 5 -o hot.png --quiet; echo $?
$airy convert three.h5 -o a.cbf; echo $?
$airy convert three.h5 --frames 0:2 -o a.png; echo $?
$airy simulate sky sky.npy --height 20 --width 20 --quiet
$airy filter median sky.npy -o a.png; echo $?
ls
# of a stack whose frames cannot be read
cp three.h5 bad.h5 && $helper damage bad.h5 /entry/data/data 1 flip && $airy convert bad.h5 -o a.png; echo $?
# lists name what holds the result
list() { sed -n 's/, .fits or .tif/ or .fits/; s/, .tif//; s/.*\(ends in .*\); see.*/\1/p'; }
$airy convert $none -o a.foo 2>&1 | list
$airy threshold $none --above 1 -o a.foo 2>&1 | list
$airy label $none -o a.foo 2>&1 | list
$airy blur $none --sigma 1 -o a.foo 2>&1 | list
$airy sources $none --noise a.foo 2>&1 | list
$airy simulate sky a.foo 2>&1 | list
for command in convert threshold label convolve filter reduce sources; do
    echo $command
    $airy $command --help | tr '\n' ' ' | sed 's/  */ /g; s/, .fits or .tif/ or .fits/g; s/, .tif//g' | grep -o '[.]npy, [.]h5, [.]edf[^-(A-Z]*'
done

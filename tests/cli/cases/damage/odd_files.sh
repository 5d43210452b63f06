# a file that is not a regular one is named, and a pipe that nobody writes is not waited for
names="pipe pipe.npy pipe.edf pipe.h5 pipe.png pipe.cbf pipe.conv pipe.npy.gz"
mkfifo $names || exit 1
for name in $names; do timeout 60 $airy stats $name; echo $?; done 2>&1
$airy simulate sky a.npy --height 8 --width 8 --quiet
try() { timeout 60 $airy "$@" 2>&1; echo $?; }
try info pipe.cbf
try view pipe.h5 -o o.png
try sky --pixels 1,1
try sky pipe --pixels 1,1
try integrate pipe.h5 -o o.h5
try integrate 'pipe.c*f' -o o.h5
try sources pipe.npy
try convert pipe.edf -o o.npy
try peaks pipe.h5::/entry/data -o o.h5
try stats a.npy --mask pipe.npy
try convolve a.npy --kernel pipe.conv -o o.npy
try integrate $small --poni "${small%.h5}.poni" --mask pipe.edf -o o.h5
try integrate pipe.h5 --follow -o o.h5
try stats /dev/null
try stats 'pipe.h5::/entry/data'

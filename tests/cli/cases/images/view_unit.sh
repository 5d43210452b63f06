# the unit of an image stands above its colour bar: BUNIT of FITS, the attribute of a dataset; other formats say none
$airy simulate sky sky.fits --quiet && $airy convert sky.fits -o sky.npy --quiet || exit 1
for file in sky.fits sky.npy; do $airy view $file -o ${file#*.}.png --colorbar --crop 0:200,0:100 --limits 0,1 --json | grep '"unit"'; done
cmp -s fits.png npy.png && exit 2
$airy view sky.fits -o plain.png --crop 0:200,0:100 --limits 0,1 --quiet && $airy view sky.npy -o plain2.png --crop 0:200,0:100 --limits 0,1 --quiet
cmp plain.png plain2.png
$airy simulate oct scan.raw --frames 1 --write-plan plan.json --quiet && $airy oct scan.raw --plan plan.json -o scan.h5 --quiet >/dev/null || exit 3
$airy view scan.h5 -o oct.png --colorbar --json | grep '"unit"'
$airy view $small -o frame.png --colorbar --json | grep '"unit"'

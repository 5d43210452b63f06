$airy simulate sky a.npy --height 20 --width 30 --quiet
$airy convert a.npy -o a.png; echo $?
$airy convert a.npy -o a.cbf; echo $?
$airy convert a.npy -o a.jpg; echo $?
$airy view a.npy -o rgb.png --quiet
$airy stats rgb.png; echo $?
printf 'SIMPLE  =' >cut.fits
$airy stats cut.fits; echo $?

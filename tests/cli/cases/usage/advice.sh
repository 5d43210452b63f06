# what cannot be done as it was asked for, and what is taken where nothing was said: each is told
case $($airy --version --verbose) in *"wcs: no"*|*"fits: written only"*) echo "no wcslib or CFITSIO" >&2; exit 77 ;; esac
printf 'label,npix\n7,120\n' >areas.csv
printf 'x,y\n7,120\n' >places.csv
printf '7,120\n' >plain.csv
$airy simulate sky sky.fits --height 32 --width 32 --sources 0 --source none --quiet
$airy sky sky.fits --pixels areas.csv; echo $?
$airy sky sky.fits --radec places.csv; echo $?
for file in places.csv plain.csv; do $airy sky sky.fits --pixels $file | wc -l; done
$airy stats sky.fits::SCI; echo $?
$airy blur sky.fits --sigma 1 -o 'out.fits[SCI]'; echo $?
$airy blur sky.fits --sigma 200 -o out.fits --quiet; echo $?
{ printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2, 2, 2)}"; printf 0123456789abcdef; } >four.npy
$airy label four.npy --above 50 --quiet; echo $?
{ printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 8)}"; printf 0123456789abcdef; } >one.npy
$airy integrate one.npy --detector pilatus_1M --dist 1 --poni1 0 --poni2 0 -o out.h5; echo $?
$airy view $small -o first.png
$airy view $small -o first.png --frame 0 --force
$airy view sky.fits -o sky.png
$airy simulate foo out.h5; echo $?
$airy simulate difraction out.h5; echo $?
ls

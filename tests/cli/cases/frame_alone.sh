# view and sources read the frame named alone: of files beside it that are cut, and of a stack that no memory holds
for i in 0 1 2; do $airy simulate sky f_$i.npy --height 16 --width 20 --sources 3 --seed $i --quiet || exit 1; done
$airy convert 'f_*.npy' -o cube.npy --quiet && truncate -s 900 f_2.npy || exit 2
for i in 0 1; do
    $airy view 'f_*.npy' --frame $i -o v.png --force --quiet 2>said || exit 3
    $airy view f_$i.npy -o w.png --force --quiet && cmp v.png w.png && $airy view cube.npy --frame $i -o w.png --force --quiet && cmp v.png w.png || exit 4
    $airy sources 'f_*.npy' --frame $i --method simple --quiet >s 2>said && $airy sources f_$i.npy --method simple --quiet | cmp - s || exit 5
done
$airy view 'f_*.npy' --frame 2 -o u.png 2>&1 | grep '^airy view:'; $airy sources 'f_*.npy' --frame 2 2>&1 | grep '^airy sources:'
[ ! -e u.png ] || exit 6
# 2 TB of zeros, where the file system has such files
{ printf '\223NUMPY\001\000v\000'; printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (500000, 1000, 1000), }"; } >s.npy
truncate -s 2000000000128 s.npy 2>said || { cat said >&2; exit 77; }
$airy view s.npy --frame 499999 -o z.png --quiet && $airy sources s.npy --frame 7 --mask s.npy --quiet | grep '"sources"'
# and of FITS: 1 TB
case $($airy --version --verbose) in *"fits: cfitsio"*) ;; *) exit 0 ;; esac
{ printf '%-80s' 'SIMPLE  = T' 'BITPIX  = 16' 'NAXIS   = 3' 'NAXIS1  = 1000' 'NAXIS2  = 1000' 'NAXIS3  = 500000' 'BSCALE  = 0.5' "BUNIT   = 'K'" END; printf '%2160s' ''; } >s.fits
truncate -s 1000000002880 s.fits || exit 7
head -c 2880 s.fits | sed 's/BSCALE  = 0.5/BSCALE  = 1  /' >t.fits && truncate -s 1000000002880 t.fits || exit 8
for f in s t; do
    $airy view $f.fits --frame 499999 -o z.png --force --quiet && $airy sources $f.fits --frame 7 --mask s.fits --quiet | grep '"sources"'
    $airy stats $f.fits --each --frames 499998: --quiet | tr -d ' \n' | grep -c '"count":1000000.*"count":1000000' || exit 9
    for o in o.fits o.npy; do $airy convert $f.fits --frames 1:500000:499990 -o $o --force; done
done 2>&1

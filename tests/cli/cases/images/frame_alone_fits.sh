# view, sources, stats and convert read the planes named alone of a FITS cube that no memory holds, scaled and as they are
case $($airy --version --verbose) in *"fits: cfitsio"*) ;; *) echo "no CFITSIO" >&2; exit 77 ;; esac
{ printf '%-80s' 'SIMPLE  = T' 'BITPIX  = 16' 'NAXIS   = 3' 'NAXIS1  = 1000' 'NAXIS2  = 1000' 'NAXIS3  = 500000' 'BSCALE  = 0.5' "BUNIT   = 'K'" END; printf '%2160s' ''; } >s.fits
truncate -s 1000000002880 s.fits 2>said || { cat said >&2; exit 77; }
head -c 2880 s.fits | sed 's/BSCALE  = 0.5/BSCALE  = 1  /' >t.fits && truncate -s 1000000002880 t.fits || exit 8
for f in s t; do
    $airy view $f.fits --frame 499999 -o z.png --force --quiet && $airy sources $f.fits --frame 7 --mask s.fits --quiet | grep '"sources"'
    $airy stats $f.fits --each --frames 499998: --quiet | tr -d ' \n' | grep -c '"count":1000000.*"count":1000000' || exit 9
    for o in o.fits o.npy; do $airy convert $f.fits --frames 1:500000:499990 -o $o --force; done
done 2>&1

case $($airy --version --verbose) in *"wcs: no"*|*"fits: written only"*) echo "no wcslib or CFITSIO" >&2; exit 77 ;; esac
$airy simulate sky a.fits --height 32 --width 32 --sources 0 --source none --quiet
$airy sky a.fits --pixels 15.5,15.5
$airy sky a.fits --radec 266.4168,-29.0078
printf 'label,com_x,com_y\n1,15.5,15.5\n' > table.csv
$airy sky a.fits --pixels table.csv --json | tr -d '\n '
echo
$airy info a.fits
$airy threshold a.fits --above 0 -o mask.fits --quiet
$airy info mask.fits | tail -n 2
$airy sky a.fits; echo $?
$airy sky a.fits --pixels none.csv; echo $?
$airy convert a.fits -o a.npy --quiet
$airy sky a.npy --pixels 1,1; echo $?
$airy convert 'a.fits[0]' -o a.fits --force; echo $?
# keywords that are missing have FITS's defaults, which is said
sed 's/CDELT\([12]\) /CDELX\1 /g; s/CRVAL2 /CRVAX2 /' a.fits >lacks.fits
$airy sky lacks.fits --pixels 15.5,15.5
$airy sources lacks.fits --catalog lacks.csv 2>&1 >/dev/null | grep -c 'CDELT1 = 1 deg'
# the other half of the sky, and tables that are none of text
printf 'ra,dec\n86.4,29\n266.4168,-29.0078\n86.5,29\nnan,1\n' >half.csv
$airy sky a.fits --radec half.csv | grep -c nan,nan
$airy sources a.fits --catalog a.vot --quiet >/dev/null; $airy sky a.fits --pixels a.vot; echo $?

case $($airy --version --verbose) in *"wcs: no"*|*"fits: written only"*) echo "no wcslib or CFITSIO" >&2; exit 77 ;; esac
$airy simulate sky sky512.fits --height 512 --width 512 --seed 20240001 --sources 40 --source none --quiet
$airy simulate sky skynan480x640.fits --height 480 --width 640 --seed 20240002 --sources 45 --source none --blank 1.55 --quiet
$airy simulate sky sky2048.fits --quiet
for name in sky512 skynan480x640 sky2048; do
    $airy sources $name.fits --method simple --catalog $name.4.csv --quiet | sed 's/\(\.[0-9]\{10\}\)[0-9]*/\1/'
    $airy sources $name.fits --method simple --connectivity 8 --catalog $name.8.csv --quiet | grep '"sources'
    $helper catalog $name.4.csv $golden/astro/$name.cat4.csv
    $helper catalog $name.8.csv $golden/astro/$name.cat8.csv
done
# the brightest one on screen, regions, the label image with its coordinates
$airy sources sky512.fits --method simple --regions a.reg --segmentation a.fits >/dev/null
head -n 5 a.reg
$airy info a.fits | sed 's/^.*: sky/sky/' | tail -n 2
$airy label sky512.fits --sigma 5 -o b.fits --quiet >/dev/null && $airy diff a.fits b.fits
# the same table in every format
$airy sources sky512.fits --method simple --catalog a.vot --quiet >/dev/null && grep -c '<TR>' a.vot
$airy sources sky512.fits --method simple --catalog c.fits --quiet >/dev/null && $airy info c.fits | tail -n 1

# places are named by the image's system, in every table, and read back by these names
case $($airy --version --verbose) in *"wcs: no"*|*"fits: written only"*) echo "no wcslib or CFITSIO" >&2; exit 77 ;; esac
$airy simulate sky ra.fits --height 40 --width 50 --sources 3 --source none --quiet
# edited cards are not those that CHECKSUM is of
axes() { sed "s/CHECKSUM= /NOCHECKS= /; s/'RA---SIN'/'$1'/; s/'DEC--SIN'/'$2'/; s/RADESYS = 'ICRS    '/RADESYS = '$3'/" ra.fits; }
axes GLON-SIN GLAT-SIN 'ICRS    ' >glon.fits
axes ELON-SIN ELAT-SIN 'ICRS    ' >elon.fits
axes SLON-SIN SLAT-SIN 'ICRS    ' >lon.fits
axes RA---SIN DEC--SIN 'GAPPT   ' >apparent.fits
for name in ra glon elon lon apparent; do
    echo "$name"
    $airy sky $name.fits --pixels 24.5,19.5
    $airy sky $name.fits --pixels 24.5,19.5 --json | grep -A 1 '"y"' | tail -n 1
    for method in full simple; do
        $airy sources $name.fits --method $method --sigma 3 --min-area 1 --catalog c.csv --regions c.reg --force >out 2>err
        head -n 1 c.csv | tr , '\n' | grep -n -e ra$ -e dec$ -e lon$ -e lat$ | tr '\n' ' '
        awk '/label/ { print $6, $7 }' err
    done
    sed -n 3p c.reg
    # by the places of the catalogue to the pixels of the catalogue
    $airy sky $name.fits --radec c.csv | sed 1d | cut -d , -f 1,2 >places
    sed 1d c.csv | cut -d , -f 8,9 | paste -d , places - |
        awk -F , '{ x = $1 - $4; y = $2 - $3; if (x * x + y * y > 1e-12) bad++ } END { print (NR > 0), bad + 0 }'
    $airy sources $name.fits --sigma 3 --catalog c.vot --force --quiet >out
    grep -o -e '<COOSYS.*' -e 'FIELD name="[a-z]*\(ra\|dec\|lon\|lat\)".*ref="sky"' c.vot
    $airy sources $name.fits --sigma 3 --catalog t.fits --force --quiet >out
    tr '\0' ' ' <t.fits | fold -w 80 | grep -a -e '^TTYPE[45]' -e '^TUCD[45]' -e ^RADESYS | cut -c 1-50
done
# names of another system are not taken for the image's
printf 'ra,dec\n1,2\n' >eq.csv
$airy sky glon.fits --radec eq.csv; echo $?

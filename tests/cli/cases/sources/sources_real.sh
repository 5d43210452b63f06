[ -n "$AIRY_REALDATA" ] || { echo "AIRY_REALDATA is not set" >&2; exit 77; }
case $($airy --version --verbose) in *"wcs: no"*|*"fits: written only"*) echo "no wcslib or CFITSIO" >&2; exit 77 ;; esac
for name in sep/image astropy/m13 aegean/1904-66_SIN caesar/ScorpioFaintSNRField; do
    short=${name#*/}
    file=$AIRY_REALDATA/astro/$name.fits
    [ -f $file ] || { echo "$name is not there" >&2; exit 77; }
    # sep 1.4.1: 53, 262, 67, 547 without filter, deblending and cleaning
    $airy sources $file --sigma 3 --global-noise --deblend off --quiet | grep '"sources'
    for n in 4 8; do
        $airy sources $file --method simple --connectivity $n --catalog $short.$n.csv --quiet | grep '"sources'
        # fluxes in Jy of these tables are of another beam
        sed 's/flux_jy/other_jy/' $golden/astro/real_$short.cat$n.csv >want.csv
        $helper catalog $short.$n.csv want.csv
    done
done

# What the header of a FITS image is likely to have wrong is named where its coordinates are used.
fits() { # FILE, cards more
    file=$1
    shift
    all=
    for card in 'SIMPLE  =                    T' 'BITPIX  =                  -32' 'NAXIS   =                    2' 'NAXIS1  =                    8' 'NAXIS2  =                    6' \
        "CTYPE2  = 'DEC--TAN'" 'CRVAL1  =                150.0' 'CRVAL2  =                  2.0' 'CRPIX1  =                  4.0' 'CRPIX2  =                  3.0' \
        'CDELT1  =               -0.001' 'CDELT2  =                0.001' "BUNIT   = 'Jy/beam '" "$@" END; do
        all="$all$(printf '%-80s' "$card")"
    done
    { printf '%-2880s' "$all"; head -c 2880 /dev/zero; } >$file
}
plain="CTYPE1  = 'RA---TAN'"
fits good.fits "$plain" 'BMAJ    =                0.003' 'BMIN    =                0.003'
fits arcsec.fits "$plain" 'BMAJ    =                 10.8' 'BMIN    =                 10.8'
sip() { fits $1 "CTYPE1  = '$2'" 'A_ORDER =                    2' 'B_ORDER =                    2' 'A_2_0   =                1E-05'; }
sip sip.fits RA---TAN-SIP
sip bare.fits RA---TAN
for file in good arcsec bare sip; do
    $airy sky $file.fits --pixels 1,1 >/dev/null
    $airy sources $file.fits >/dev/null
    $airy info $file.fits >/dev/null
done
fits zero.fits "$plain" 'BSCALE  =                  0.0'
$airy stats zero.fits

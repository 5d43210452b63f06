# a CeO2 image of a Pilatus 1M: the residual, and the distance that another program has
[ -n "$AIRY_REALDATA" ] || { echo "AIRY_REALDATA is not set" >&2; exit 77; }
file=$AIRY_REALDATA/diffraction/ceo2_pilatus1m.h5
[ -f "$file" ] || { echo "ceo2_pilatus1m.h5 is not there" >&2; exit 77; }
$airy calibrate "$file" --calibrant CeO2 --wavelength 4.066e-11 --dist 0.218 --center 512,505 --detector pilatus_1M -o ceo2.poni --quiet |
    awk '$1 == "dist" { print ($2 / 0.208651 > 0.9998 && $2 / 0.208651 < 1.0002 ? "distance within 2e-4" : $0) }
$1 == "residual" { print ($2 < 0.2 ? "residual below 0.2 pixels" : $0) }'

# a simulated calibrant: the geometry that made it comes back from a guess that is 5 percent and 20 pixels off
true="--detector pilatus_300k --dist 0.12 --poni1 0.05 --poni2 0.04 --rot1 0.03 --rot2=-0.02 --wavelength 0.6e-10"
$airy simulate diffraction rings.h5 --frames 1 $true --calibrant LaB6 --seed 3 --gaps --write-poni true.poni --quiet || exit 1
# poni1 0.05 is row 290.7, the tilt moves the beam to 276.7; poni2 0.04 is column 232.6, beam at 211.6
judge() { awk '$1 == "dist" { print "distance", ($2 > 0.11999 && $2 < 0.12001 ? "good" : $2) }
$1 == "beam" { sub(",", "", $6); print "beam", ($3 > 276.6 && $3 < 276.85 && $7 > 211.5 && $7 < 211.75 ? "good" : $0) }
$1 == "residual" { print "residual", ($2 < 0.05 ? "small" : $2) }
$1 == "wavelength" { print $3, $4 }'; }
guess="--detector pilatus_300k --dist 0.126 --center 290,196 --wavelength 0.6e-10"
$airy calibrate rings.h5 --calibrant LaB6 $guess -o found.poni --plot found.png >said && judge <said
grep '^#' found.poni | sed 's/[0-9]\.[0-9.]*/N/; s/of [0-9]* points/of points/'
$airy info found.poni --json | grep -c -e '"rot1": 0.0[23]' -e '"detector": "Pilatus 300k"'
head -c 4 found.png | tail -c 3; echo
# by the shape of the image, JSON, from a PONI file, and from a file of spacings
$airy calibrate rings.h5 --calibrant lab6_srm660c --dist 0.12 --center 277,212 --energy 20.664 -o x.poni --json | grep -o -e '"rms_deg"' -e '"errors"' -e '"fwhm_px"' -e '"held"' | sort | uniq
printf '# spacings\n4.156826 # (1 0 0)\n2.939320\n2.399945\n2.078413\n1.858989\n1.697017\n' >own.D
$airy calibrate rings.h5 --calibrant own.D --guess true.poni --no-search -o own.poni --verbose 2>/dev/null | grep -e '^  *1 ' -e '^residual' | sed 's/pixels.*of [0-9]* of/pixels of/; s/[0-9]\.[0-9]* pixels/N pixels/; s/of [0-9]* points/of points/' | cut -c1-40
# what is held stays
$airy calibrate rings.h5 --calibrant LaB6 --guess true.poni --fix dist,rot1 --fix rot2 -o held.poni | grep -c held
$airy calibrate rings.h5 --calibrant LaB6 --guess true.poni --free wavelength -o free.poni | grep -c '^wavelength.*+-'
$airy calibrate --list | wc -l | tr -d ' '
$airy calibrate --list --json | grep -c '"source"'
# a picture is not written over, nor a PONI
$airy calibrate rings.h5 --calibrant LaB6 $guess -o found.poni; echo $?
ls | grep -c partial
true

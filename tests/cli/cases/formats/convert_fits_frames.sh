# --frames from FITS to FITS: the header goes along, with the coordinates of these frames
. "$cli/check.sh"
case $($airy --version --verbose) in *"fits: cfitsio"*) ;; *) echo "no CFITSIO" >&2; exit 77 ;; esac
# a file of planes of 2 x 3 zeros: name, axes, further cards
make() {
    name=$1 axes=$2 bytes=24 number=3 text=
    shift 2
    for axis in $axes; do bytes=$((bytes * axis)); done
    set -- "SIMPLE  = T" "BITPIX  = -32" "NAXIS   = $(echo 3 2 $axes | wc -w)" "NAXIS1  = 3" "NAXIS2  = 2" "$@"
    for card; do
        printf '%-80s' "$card"
        [ "$card" != "NAXIS2  = 2" ] || for axis in $axes; do printf '%-80s' "NAXIS$number  = $axis"; number=$((number + 1)); done
    done >header
    printf '%-80s' END >>header
    while [ $(($(wc -c <header) % 2880)) != 0 ]; do printf ' ' >>header; done
    { cat header; head -c $(((bytes + 2879) / 2880 * 2880)) /dev/zero; } >$name
}
cards() { head -c 2880 $1 | fold -w 80 | sed -n '/^NAXIS[34]/p; /^C[RD][PE].*3/p; /^CD[0-9]*_3/p; /^BUNIT/p' | sed 's/  *= */=/; s/ *$//'; }
sky="CTYPE1  = 'RA---TAN'|CTYPE2  = 'DEC--TAN'|CRPIX1  = 1|CRPIX2  = 1|CRVAL1  = 150.5|CRVAL2  = 2.25|CDELT1  = -0.001|CDELT2  = 0.001|BUNIT   = 'JY/BEAM'"
IFS='|'
make cube.fits 6 $sky "CTYPE3  = 'FREQ'" "CRPIX3  = 2" "CRVAL3  = 1e9" "CDELT3  = 1e6" "CRPIX3A = 5.5" "CDELT3A = 3"
make radio.fits '4|1' $sky "CTYPE3  = 'FREQ'" "CRPIX3  = 2" "CRVAL3  = 1e9" "CD1_1   = -0.001" "CD2_2   = 0.001" "CD3_3   = 1e6" "CD1_3   = 0"
make mixed.fits 6 $sky "CRPIX3  = 2" "CDELT3  = 1" "PC3_1   = 0.5"
make bare.fits 6 $sky "CTYPE3  = 'FREQ'" "CDELT3  = 1"
make both.fits '2|2' $sky
unset IFS
for case in "cube 2" "cube 1:3" "cube 1:6:2" "cube 0:6" "radio 1:4:2" "radio 3" "mixed 1:3" "bare 0:3" "both 1"; do
    expect "frames ${case#* } of ${case% *}.fits keep their header and coordinates"
    $airy convert ${case% *}.fits --frames ${case#* } -o f.fits --force --quiet && cards f.fits
    case $($airy --version --verbose) in *wcslib*)
        [ ${case%% *} = mixed ] || $airy sky f.fits --pixels 0,0 | tr -d ' \n' | grep -q '150.5,.*2.25' || echo no sky ;;
    esac
done
for case in "mixed 0:6:2" "bare 1:3" "bare 1" "both 0:3" "cub* 0"; do
    expect "what becomes of frames $(echo "${case#* } of ${case% *}" | tr -d '*').fits has no coordinates"
    $airy convert "${case% *}.fits" --frames ${case#* } -o f.fits --force && cards f.fits
done
expect 'a file without a header takes the frames'
$airy convert cube.fits --frames 1:3 -o f.npy
expect 'a maximum of frames has no coordinates'
$airy reduce cube.fits --by max -o f.fits --force
expect 'a maximum of frames in a file without a header has no warning'
$airy reduce cube.fits --by max -o r.npy
for case in "cube 2" "cube 1:6:2" "radio 3" "mixed 0:6:2"; do
    expect "labels of frames ${case#* } of ${case% *}.fits have the coordinates of the frames"
    rm -f f.fits l.fits
    $airy convert ${case% *}.fits --frames ${case#* } -o f.fits --quiet
    $airy label ${case% *}.fits --each --frames ${case#* } --above 5 -o l.fits >said 2>err; grep -v 'on device' err >&2
    cards f.fits | sed '/^BUNIT/d' >want; cards l.fits >got; diff want got && grep -c . got
done

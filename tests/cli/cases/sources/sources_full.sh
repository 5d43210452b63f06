case $($airy --version --verbose) in *"wcs: no"*|*"fits: written only"*) echo "no wcslib or CFITSIO" >&2; exit 77 ;; esac
digits() { sed 's/\(\.[0-9]\{5\}\)[0-9]*/\1/g'; }
$airy simulate sky sky512.fits --height 512 --width 512 --seed 20240001 --sources 40 --source none --quiet
$airy simulate sky skynan480x640.fits --height 480 --width 640 --seed 20240002 --sources 45 --source none --blank 1.55 --quiet
$airy simulate sky sky2048.fits --quiet
for name in sky512 skynan480x640 sky2048; do $airy sources $name.fits --quiet | digits; done
# as many as sep 1.4.1 finds without filter, deblending and cleaning
for name in sky512 skynan480x640 sky2048; do $airy sources $name.fits --sigma 3 --global-noise --deblend off --quiet | grep '"sources'; done
# every output; images keep the coordinates
$airy sources sky512.fits --catalog a.csv --regions a.reg --segmentation s.fits --background b.fits --noise n.fits --apertures 3,5 2>/dev/null >/dev/null
head -n 2 a.csv | digits
grep -c ellipse a.reg
for name in s b n; do $airy info $name.fits | grep -c 'sky RA---SIN'; done
$airy stats s.fits | grep max
# as sep has it, 23 sources of sep 1.4.1; detection in filtered images; no deblending; what is asked for reaches the library
for options in "--compat sep" "--matched 2.5" "--deblend off" "--deblend 64,0.0001" "--global-noise" "--clean" "--mesh 32,128" "--min-area 20" "--connectivity 4" "--sigma 10"; do
    echo "$options: $($airy sources sky512.fits $options --quiet | sed -n 's/.*"sources": //p')"
done
# sources as in another table: FITS and VOTable have the same columns
$airy sources sky512.fits --catalog a.fits --apertures 3,5 --quiet >/dev/null && $airy info a.fits | tail -n 1
$airy sources sky512.fits --catalog a.vot --apertures 3,5 --quiet >/dev/null && grep -c '<FIELD' a.vot
grep -A 1 'APER2' a.vot | head -n 1
# a mask of everything above leaves nothing; a half leaves a half
$airy threshold sky512.fits --above 0.02 -o m.fits --quiet && $airy sources sky512.fits --mask m.fits --quiet | grep '"sources'
# a pedestal and a slope are no source
$airy simulate sky p.npy --height 256 --width 256 --sources 0 --source none --background 6850,300,200 --quiet && $airy sources p.npy --quiet | grep '"sources'

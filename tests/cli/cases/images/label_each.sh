case $($airy --version --verbose) in *"fits: written only"*) echo "no CFITSIO" >&2; exit 77 ;; esac
# planes are images by themselves
f=$golden/astro/fitsvariants/cube_f4.fits
$airy label $f --each --above 2 --connectivity 8 --min-area 2 --table t.csv -o l.npy --quiet && cut -d, -f1-3 t.csv && $airy stats l.npy --quiet | grep '"max"'
$airy label $f --each --above 99 --table none.csv --quiet >/dev/null && wc -l <none.csv
# planes read by themselves keep the table's unit
sed "s|EXTEND  =                    T|BUNIT   = 'K'                 |" $f >k.fits
$airy label k.fits --each --above 2 --table a.vot -o l.npy --force --quiet >/dev/null && $airy label k.fits --each --above 2 --table b.vot --quiet >/dev/null && cmp a.vot b.vot && grep -c 'unit="K"' a.vot

# a message is one line whatever a file is called, and says counts as people do
name=$(printf 'a\nb\tc\033[31md\302\233e')
$airy simulate sky "$name.npy" --height 4 --width 4 --quiet
$airy stats "$name"
$airy stats "$name.npy" "$name"
$airy stats "$name.npy" "--$name"
$airy "$name"
$airy simulate sky "$name.npy" --height 4 --width 4
$airy blur "$name.npy" --sigma 1 --plan
$airy clip "$name.npy" --frames 9
# keywords of FITS
$airy simulate sky y.fits --height 4 --width 4 --quiet
for value in '                    ' '                 4.5' '99999999999999999999'; do
    sed "1s/NAXIS2  =                    4 /NAXIS2  = $value /" y.fits | head -c 5760 >n.fits
    $airy stats n.fits
done
# one of them
$airy convert $golden/astro/ks_cases.h5::/even_median -o line.npy --quiet
$airy convolve y.fits --kernel line.npy -o o.npy --quiet
$airy filter median y.fits --footprint line.npy -o p.npy
$airy convolve line.npy --kernel y.fits -o p.npy
$airy view y.fits -o o.png --crop 0:5,0:1
# and so does what a file is called
$airy info "$name.npy"
$airy convert y.fits -o "$name.h5" --quiet && $airy info "$name.h5" | head -n 2
# and what it holds
escape=$(printf '\033[')
sed "s/Pilatus 100k/Pila${escape}1m100k/g" "$small" >m.h5 && $airy info m.h5 | sed -n 's/, .*//; 3p'
$airy integrate m.h5 -o r.h5 --explain | sed -n 's/, .*//; /^geometry/p'
$airy integrate "$small" -o r.h5 --quiet
sed "s/20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]T/2026-0101$escape/" r.h5 >d.h5 && $airy info d.h5 | sed -n '1s/.*errors, \(.*\[\).*/\1/p'
sed "1s/CTYPE1  = 'RA---SIN'/EXTNAME = 'E${escape}1m   '/" y.fits >e.fits && $airy info e.fits | grep -F -c 'E\x1b[1m'
exit 0

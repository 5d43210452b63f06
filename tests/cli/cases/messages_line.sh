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
exit 0

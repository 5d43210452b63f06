# a text of a file, or a file's name, that goes into another file is text there, too
bad=$(printf 'x\n9.9 9.9\n\033[2J\302\233\377')
cp "$small" "$bad.h5" && cp "${small%.h5}.poni" "$bad.poni"
# a table: no row and no escape, whatever the inputs are called
for to in dat xy chi; do
    $airy integrate "$bad.h5" --poni "$bad.poni" --frames 0:1 --bins 20 -o t.$to --quiet || exit 1
    grep -c -a -e '^9\.9 9' -e "$(printf '[\033\233\377]')" t.$to
done
# a description that is no UTF-8: the answer and the configuration are JSON, with it
name=$(printf 'Pil\351tus 100\377')
sed "s/Pilatus 100k/$name/g" "$small" >latin.h5
$airy info latin.h5 --json | grep '"detector"'
$airy integrate latin.h5 --poni "${small%.h5}.poni" --bins 20 -o l.h5 --quiet && $airy integrate latin.h5 --config l.h5 -o m.h5 --quiet &&
    $airy diff l.h5::/entry/integrate/result/intensity m.h5::/entry/integrate/result/intensity
# a '%' in a name is no format of virtual datasets
$airy compress "$small" '5%b%%_master.h5' --frames-per-file 3 --quiet && $airy diff "$small::/entry/data/data" '5%b%%_master.h5::/entry/instrument/detector/data'
# a header of FITS is printable ASCII
$airy simulate sky y.fits --height 8 --width 8 --quiet
card=$(printf 'COMMENT \351\t\033[2Jx')
sed "1s/BUNIT   = 'Jy\/b/$card/" y.fits >u.fits && ! cmp -s y.fits u.fits || exit 2
$airy convert u.fits -o v.fits --quiet && head -c 2880 v.fits | grep -c -a "$(printf '[\001-\037\177-\377]')"
# a message of the log on a terminal
AIRY_LOG=debug $airy stats "$(printf 'a\033b\302\233c.npy')" 2>&1 | grep -c -e "$(printf '\033')" -e "$(printf '\302\233')"
exit 0

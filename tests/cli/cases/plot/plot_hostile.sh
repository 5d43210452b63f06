# a text of a file, a name and a title are text to gnuplot: no line of its script, no command of a shell
command -v gnuplot >/dev/null || { echo "no gnuplot" >&2; exit 77; }
line=$(printf 'x\n!>R #x')
$airy integrate "$small" --poni "${small%.h5}.poni" --bins 20 --grid 2x4 -o r.h5 --quiet || exit 1
# as long as what it stands for
sed "s|q (1/nm)|q\n!>R #x|g" r.h5 >e.h5 && ! cmp -s r.h5 e.h5 || exit 2
for kind in lines map both waterfall; do
    $airy plot e.h5 -o $kind.svg --kind $kind --title "$line' @{/Symbol a}_\`id\`" --quiet || exit 3
done
grep -c '{/Symbol a}_`id`' lines.svg
$airy plot r.h5 --map total --title "$line" -o scan.svg --quiet || exit 4
$airy watch e.h5 --count 1 --png w.png >/dev/null || exit 5
$airy simulate sky y.fits --height 8 --width 8 --quiet
sed "1s/JY\/BEAM/\n!>R #x/; 1s/Jy\/beam/\n!>R #x/" y.fits >"$line.fits"
$airy sources "$line.fits" --method simple --sigma 1 --plot c.svg --quiet >/dev/null || exit 6
$airy simulate oct s.raw --frames 1 --lines 32 --samples 256 --write-plan plan.json --quiet && mv s.raw "$line.raw"
$airy oct "$line.raw" --plan plan.json -o o.h5 --plot o.svg --quiet >/dev/null || exit 7
cp "$small" "$line.h5" && cp "${small%.h5}.poni" "$line.poni"
$airy integrate "$line.h5" --poni "$line.poni" --bins 20 -o i.h5 --plot i.svg --quiet >/dev/null || exit 8
# a text of any length
$airy plot r.h5 -o long.svg --title "$(printf '%0100000d' 7)" --quiet || exit 9
grep -o '00…' long.svg
[ ! -e R ] || echo "a text ran a command"
ls ./*.svg ./*.png

# names with blanks, quotes and bytes that are no text
name=$(printf 'it'"'"'s a\tnew\344 name')
cp $small "$name.h5" && cp "${small%.h5}.poni" "$name.poni" || exit 1
$airy info "$name.h5" --json >/dev/null || exit 2
$airy integrate "$name.h5" --poni "$name.poni" -o "$name.r.h5" --json >/dev/null || exit 3
$airy integrate "$name.h5" --config "$name.r.h5" -o again.h5 --quiet && $airy diff "$name.r.h5" again.h5 >/dev/null || exit 4
$airy view "$name.h5" -o "$name.png" --json >/dev/null || exit 5
command -v gnuplot >/dev/null || exit 0
$airy plot "$name.r.h5" -o "$name.svg" --title "$name" --json >/dev/null && [ -s "$name.svg" ]

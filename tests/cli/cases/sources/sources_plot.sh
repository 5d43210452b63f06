command -v gnuplot >/dev/null || { echo "no gnuplot" >&2; exit 77; }
$airy simulate sky a.npy --height 64 --width 96 --sources 9 --source none --blank 1.9 --quiet
$airy sources a.npy --method simple --plot a.png --quiet >/dev/null && $airy view a.png -o b.png --quiet 2>&1 | grep -c RGB
$airy sources a.npy --method simple --plot a.svg --quiet >/dev/null && grep -c '</svg>' a.svg
# a number at the side is within the picture, and what is no pixel is grey, on which it can be seen
$airy simulate sky edge.npy --height 64 --width 96 --sources 0 --source 95,30,5,2,0,1,0 --quiet && $airy sources edge.npy --method simple --plot edge.svg --quiet >/dev/null
right=$(sed -n "s/.*rgb(112, 112, 112)' points = '[^ ]* \([0-9]*\).*/\1/p" edge.svg)
label=$(sed -n 's/.*translate(\([0-9]*\).*rgb(255,255,255).*/\1/p' edge.svg)
[ "$label" -gt 0 ] && [ $((label + 5)) -le "$right" ] || echo "the number is at $label, the end at $right"
# a row of pixels is drawn, too
$airy simulate sky row.npy --height 1 --width 96 --sources 0 --source none --quiet && $airy sources row.npy --method simple --plot row.svg --quiet >/dev/null && grep -c '<image' row.svg
rm edge.* row.*
# nothing to draw round, and a pixel alone
$airy sources a.npy --method simple --sigma 1e9 --plot c.png --quiet | grep -e '"sources' -e expected
$airy sources a.npy --method simple --plot a.gif --quiet; echo $?
$airy sources a.npy --method simple --plot a.png --quiet; echo $?
PATH=/nowhere $airy sources a.npy --method simple --plot d.png --quiet; echo $?
ls

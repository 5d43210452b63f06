command -v gnuplot >/dev/null || { echo "no gnuplot" >&2; exit 77; }
$airy simulate sky a.npy --height 64 --width 96 --sources 9 --source none --blank 1.9 --quiet
$airy sources a.npy --method simple --plot a.png --quiet >/dev/null && $airy view a.png -o b.png --quiet 2>&1 | grep -c RGB
$airy sources a.npy --method simple --plot a.svg --quiet >/dev/null && grep -c '</svg>' a.svg
# nothing to draw round, and a pixel alone
$airy sources a.npy --method simple --sigma 1e9 --plot c.png --quiet | grep -e '"sources' -e expected
$airy sources a.npy --method simple --plot a.gif --quiet; echo $?
$airy sources a.npy --method simple --plot a.png --quiet; echo $?
PATH=/nowhere $airy sources a.npy --method simple --plot d.png --quiet; echo $?
ls

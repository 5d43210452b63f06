command -v gnuplot >/dev/null || { echo "no gnuplot" >&2; exit 77; }
# the picture, over an old one; one of two dimensions; no process is left
for bins in 40 20x12; do
    rm -f r.h5
    $airy integrate $small --bins $bins -o r.h5 --quiet || exit 1
    $airy watch r.h5 --count 2 --log --force --png r.png >/dev/null || exit 2
    head -c 4 r.png | tail -c 3
    echo
done
[ ! -e r.png.partial ] || exit 3
$airy watch r.h5 --png none/s.png >/dev/null 2>&1
[ $? = 1 ] || exit 5
# a gnuplot that fails or hangs is said, the latter ended: it holds nothing up, but there is no picture
mkdir bin
for does in 'exit 3' 'exec sleep 100'; do
    printf '#!/bin/sh\n%s\n' "$does" >bin/gnuplot
    chmod +x bin/gnuplot
    PATH=$PWD/bin:$PATH timeout 120 $airy watch r.h5 --png s.png 2>&1 >/dev/null
    [ $? = 1 ] || exit 4
    ls s.png* 2>/dev/null
done
exit 0

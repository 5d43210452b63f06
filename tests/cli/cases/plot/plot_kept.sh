# a picture is a temporary file until it is whole: no file beside it is touched, and a signal cleans up the temporary files
. "$cli/await.sh"
command -v gnuplot >/dev/null || { echo "no gnuplot" >&2; exit 77; }
$airy simulate sky sky.npy --height 32 --width 48 --quiet && $airy integrate $small -o p.h5 --bins 40 --quiet || exit 1
for name in a.png b.svg; do echo mine >$name.partial && ln -s away $name.00000000.partial; done
$airy sources sky.npy --plot a.png --quiet >/dev/null && $airy plot p.h5 -o b.svg --quiet || exit 2
[ -s a.png ] && grep -q '</svg>' b.svg && [ "$(cat a.png.partial b.svg.partial)" = "$(echo mine; echo mine)" ] && [ ! -e away ] || exit 3
rm [ab].*
# a gnuplot that does not end
mkdir bin && printf '#!/bin/sh\necho $$ >%s/pid\nexec sleep 100\n' "$PWD" >bin/gnuplot && chmod +x bin/gnuplot
PATH=$PWD/bin:$PATH
draws() { [ -s pid ] && [ -e "$(echo a.png.*.partial)" ]; }
default=
env --default-signal=INT,HUP true 2>/dev/null && default='env --default-signal=INT,HUP'
for name in TERM ${default:+INT HUP}; do
    $default $airy sources sky.npy --catalog a.csv --force --plot a.png --quiet >/dev/null &
    process=$!
    await draws || exit 4
    kill -$name $process
    wait $process
    code=$?
    kill "$(cat pid)" && rm pid
    [ $code -gt 128 ] && [ "$(echo a.*)" = a.csv ] || { echo "SIG$name: exit code $code" && ls && exit 5; } >&2
done

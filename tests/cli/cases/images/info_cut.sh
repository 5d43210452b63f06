bytes=$(($(wc -c <"$small") * 2 / 3))
head -c $bytes "$small" >cut.h5
$airy info cut.h5 >text 2>said
grep -q "cut.h5 is cut off: $bytes of [0-9]* bytes are there" said || exit 1
head -n 1 text | grep -q '^stack cut.h5' || exit 2
$airy info "$small" >text 2>said && [ ! -s said ] || exit 3
# a script knows it, too
head -c $bytes "$small" >cut.h5
$airy info cut.h5 --json 2>/dev/null | grep -E '^  "(cut|file_bytes|why_no_stack)"' | sed "s/ $bytes,/ N,/; s/of [0-9]* bytes/of M bytes/"
$airy info "$small" --json | grep '"cut"'
# images are not read, whatever is missing of them
$airy simulate sky a.npy --height 40 --width 40 --quiet
$airy convert a.npy -o u.npy --dtype u16 --quiet 2>/dev/null || $airy threshold a.npy --above 0 -o u.npy --quiet
for to in fits npy tif cbf edf png; do
    $airy convert u.npy -o b.$to --quiet 2>/dev/null || $airy view u.npy -o b.$to --quiet 2>/dev/null || continue
    head -c $(($(wc -c <b.$to) * 3 / 4)) b.$to >cut.$to
    $airy info cut.$to --json >/dev/null 2>&1
    echo $to $?
done

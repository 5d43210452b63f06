# readers of text tables take every line whole, or say which one they cannot take; none of them drops what follows
. "$cli/check.sh"
awk 'BEGIN { for (i = 1; i <= 9; i++) print i, 10 * i, i / 4 }' >good.dat
refuses() { # SENTENCE WHAT COMMAND...
    expect "$1" && what=$2
    shift 2
    "$airy" "$@" 2>said && { echo "$what: taken" >&2; exit 2; }
    [ "$(wc -l <said)" = 1 ] && grep -q "$what" said || { cat said >&2; exit 3; }
}
curve="simulate diffraction s.h5 --detector pilatus_100k --frames 1 --quiet --force --curve"
# a byte 0 hides the rest of a line
sed 's/^5 50/5 5@0/' good.dat | tr '@' '\000' >zero.dat
refuses 'a byte 0 in a table is reported by plot' 'zero.dat line 5: a byte of value 0' plot zero.dat -o p.png
# shellcheck disable=SC2086
refuses 'a byte 0 in a table is reported by simulate' 'zero.dat line 5: a byte of value 0' $curve zero.dat
# a third column that is no number is no missing one, and a fourth is none of errors
sed 's/1.25$/1.25x/' good.dat >word.dat
refuses 'a word in the third column is reported' 'word.dat line 5: expected two or three columns' plot word.dat -o p.png
sed 's/$/ 7/' good.dat >four.dat
refuses 'a fourth column is reported' 'four.dat line 1: expected two or three columns' plot four.dat -o p.png
# carriage returns alone make one line of all
tr '\n' '\r' <good.dat >cr.dat
refuses 'lines that end in a carriage return alone are reported by plot' 'cr.dat line 1: lines that end in a carriage return alone' plot cr.dat -o p.png
# shellcheck disable=SC2086
refuses 'lines that end in a carriage return alone are reported by simulate' 'cr.dat line 1: lines that end in a carriage return alone' $curve cr.dat
# a long comment is a comment to its end, whatever its 1025th byte is; a long line of numbers is none
expect 'a long comment is a comment to its end'
{ printf '#'; head -c 1022 /dev/zero | tr '\000' x; printf ' 99 99 99\n'; cat good.dat; } >long.dat
# shellcheck disable=SC2086
"$airy" $curve long.dat || exit 4
expect 'a long comment with numbers at its end is a comment'
cut -d' ' -f1,2 good.dat >two.dat
{ printf '#'; head -c 510 /dev/zero | tr '\000' x; printf ' 0.5 99\n'; cat two.dat; } >comment.dat
# shellcheck disable=SC2086
"$airy" $curve two.dat && "$airy" convert s.h5 -o a.npy --quiet && "$airy" $curve comment.dat && "$airy" convert s.h5 -o b.npy --quiet && cmp a.npy b.npy || exit 5
{ head -c 5000 /dev/zero | tr '\000' 1; printf ' 2\n'; } >wide.dat
refuses 'a long line of numbers is reported' 'wide.dat line 1: longer than 4094 bytes' plot wide.dat -o p.png
# an endless one ends
tr '\000' '#' </dev/zero | head -c 3000000 >endless.dat
refuses 'an endless line is reported' 'endless.dat line 1: longer than 1 MB' plot endless.dat -o p.png
# numbers one a line
seq 1 64 | sed 's/^9$/9@0/' | tr '@' '\000' >n.txt
refuses 'a byte 0 in a list is reported' "'n.txt': neither NPY nor text" simulate oct m.raw --samples 64 --lines 2 --frames 1 --quiet --wavelengths n.txt

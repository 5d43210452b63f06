# columns as wide as what is in them, cases in the order given, nulls for what was not measured
TMPDIR=$PWD
export TMPDIR
$airy bench decode integrate --case sparse,4M-u16 --frames 2 --batch 1 --seconds 0.01 --table --quiet >rows || exit 1
awk '$1 == "decode" { print $2 }' rows | tr '\n' ' ' | grep -q '^sparse .*4M-u16 ' || { cat rows >&2; exit 2; }
awk 'length($0) > 110 { exit 1 }' rows || { cat rows >&2; exit 3; }
grep -q '[0-9]e+0[0-6]' rows && { cat rows >&2; exit 4; }
$airy bench layouts $small --seconds 0.01 --table --quiet | grep -q 'speed-up [0-9.]*, against serial [0-9.e+-]*, identical' || exit 5
$airy bench stages $small --seconds 0.01 --quiet >rows.json || exit 6
grep -A 12 '"unit": "B"' rows.json | grep -q '"first_call": [0-9]' && { cat rows.json >&2; exit 7; }
exit 0

# complex results are complex numbers in files; pairs where they are asked for
$airy simulate oct m.raw --samples 64 --lines 6 --frames 3 --quiet || exit 1
echo '{"samples": 64, "lines": 6, "dtype": "u16", "output": "complex"}' >p.json
for out in npy h5; do
    $airy oct m.raw --plan p.json -o c.$out --quiet >/dev/null || exit 2
    $airy oct m.raw --plan p.json -o p.$out --complex-as-pairs --quiet >/dev/null || exit 3
done
head -c 80 c.npy | grep -aq "'<c8', 'fortran_order': False, 'shape': (3, 6, 32), }" || exit 4
head -c 80 p.npy | grep -aq "'<f4', 'fortran_order': False, 'shape': (3, 6, 32, 2), }" || exit 5
tail -c 4608 c.npy >c.bytes && tail -c 4608 p.npy | cmp - c.bytes || exit 6
$airy diff c.npy c.h5 || exit 7
$airy diff c.npy p.npy && exit 8
$airy info c.npy
$airy info c.h5 2>&1 | grep /complex
# conversions keep them, as a whole and some frames; the old form is there for other formats
$airy convert c.h5 -o d.npy --quiet && cmp c.npy d.npy || exit 9
$airy convert c.npy -o d.h5 --quiet && $airy diff d.h5 c.npy || exit 10
$airy convert c.h5 --complex-as-pairs -o e.npy --quiet && cmp e.npy p.npy || exit 11
$airy convert c.h5 --frames 1 -o f.npy --quiet || exit 12
tail -c 1536 f.npy >f.bytes && tail -c 3072 c.npy | head -c 1536 | cmp - f.bytes || exit 13
$airy convert c.npy --frames 0:3:2 -o g.npy && $airy convert g.npy --frames 1 -o h.npy --quiet || exit 14
tail -c 1536 h.npy >h.bytes && tail -c 1536 c.npy | cmp - h.bytes || exit 15
$airy convert c.npy --frames 1:4 -o none.npy && exit 16
# one part of one number differs
{ head -c 132 c.npy; printf '\000\000\200\077'; tail -c +137 c.npy; } >x.npy
$airy diff c.npy x.npy | sed 's/: .* and [^ ]*$/: .../'
# what has no complex numbers, and who takes none
for command in 'convert c.npy -o a.tif' 'convert c.npy -o a.edf' 'stats c.npy' 'stats c.h5' 'reduce c.npy -o a.npy' 'view c.h5 -o a.png' \
    'oct c.npy --plan p.json -o a.npy' 'plot c.h5 -o a.png'; do
    # shellcheck disable=SC2086
    $airy $command 2>said
    [ $? = 1 ] && [ "$(wc -l <said)" = 1 ] || { echo "$command" >&2; cat said >&2; exit 17; }
done
[ ! -e none.npy ] && [ ! -e a.npy ]

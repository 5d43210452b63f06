command -v gnuplot >/dev/null || { echo "no gnuplot" >&2; exit 77; }
cat >plan.json <<END
{"samples": 512, "lines": 40, "dtype": "u16", "background": "mean", "window": "hann", "depth": [4, 250]}
END
$airy simulate oct m.raw --samples 512 --lines 40 --frames 3 --linear-k --quiet || exit 1
$airy oct m.raw --plan plan.json --plot b.png --enface face.npy,20:40 --mip deep.npy --quiet >/dev/null || exit 1
$airy oct m.raw --plan plan.json --plot c.svg --frame 2 --mip all.npy,frames --enface face.png --quiet >/dev/null || exit 1
$airy oct m.raw --plan plan.json -o one.png --frame 1 --quiet >/dev/null || exit 1
$airy oct m.raw --plan plan.json -o some.png 2>said >/dev/null || exit 1
grep -c 'display from' said
cmp one.png some_0001.png && grep -c '</svg>' c.svg
for file in face.npy deep.npy all.npy face.png one.png; do $airy stats $file | grep count; done
# the projections are those of the values
$airy oct m.raw --plan plan.json -o v.h5 --quiet >/dev/null
$airy reduce v.h5 --by max -o max.npy --quiet && $airy diff max.npy all.npy
ls

# a mirror at 800 um is found there, from and to every format, in one piece or by a pipe
cat >plan.json <<END
{"samples": 2048, "lines": 8, "dtype": "u16", "background": "mean", "window": {"kind": "hann"},
 "axis": {"wavelength_poly": [1187.2, 252.9, 13.5, -25.5, 4.6], "unit": "nm"}}
END
$airy simulate oct m.raw --lines 8 --frames 5 --reflectors 800:-20:10 --quiet || exit 1
$airy oct m.raw --plan plan.json -o a.npy --quiet | sed 's/peak .* at/peak at/'
same() { $airy diff "$1" "$2" --quiet >/dev/null && echo same || echo "$1 and $2 differ"; }
cat m.raw | $airy oct - --plan plan.json -o pipe.npy --quiet >/dev/null && same pipe.npy a.npy
mkfifo named && { cat m.raw >named & } && $airy oct named --plan plan.json -o named.npy --quiet >/dev/null && same named.npy a.npy
$airy oct m.raw --plan plan.json -o a.h5 --quiet >/dev/null && same a.h5::/entry/oct/result/db a.npy
# files that say their shape, with a plan that does not
cat >short.json <<END
{"background": "mean", "window": "hann", "samples": 2048,
 "axis": {"wavelength_poly": [1187.2, 252.9, 13.5, -25.5, 4.6], "unit": "nm"}}
END
$airy simulate oct m.npy --lines 8 --frames 5 --reflectors 800:-20:10 --quiet &&
    $airy oct m.npy --plan short.json -o b.npy --quiet >/dev/null && same b.npy a.npy
$airy simulate oct m.h5 --lines 8 --frames 5 --reflectors 800:-20:10 --quiet &&
    $airy oct m.h5 --plan short.json -o c.npy --quiet >/dev/null && same c.npy a.npy
$airy compress m.h5 z.h5 --quiet && $airy oct z.h5 --plan short.json -o d.npy --quiet >/dev/null && same d.npy a.npy
# part of the frames, with a cut file too
$airy oct m.raw --plan plan.json -o e.npy --frames 2:4 --json --quiet | grep -e '"frames"' -e '"raw_frames"'
$airy oct m.raw --plan plan.json -o f.npy --frames 2 --quiet | grep frames
head -c 150000 m.raw >cut.raw
$airy oct cut.raw --plan plan.json -o g.npy --frames 0:4 --quiet | grep frames
# what the result was made of stands in it
grep -a -c '"sha256"' a.h5
case $($airy --version --verbose) in *"tiff: libtiff"*) $airy oct m.raw --plan plan.json -o a.tif --quiet >/dev/null && same a.tif a.npy ;; *) echo same ;; esac
ls | grep -c partial
true

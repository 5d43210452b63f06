try() { "$airy" oct "$@" --quiet; echo $?; }
plan() { name=$1; shift; echo "{$*}" >"$name.json"; }
$airy simulate oct m.raw --samples 64 --lines 6 --frames 3 --quiet || exit 1
$airy simulate oct m.npy --samples 64 --lines 6 --frames 3 --quiet || exit 1
raw='"samples": 64, "lines": 6, "dtype": "u16"'
plan good "$raw"
try m.raw
try m.raw --plan good.json
try m.raw --plan good.json -o a.jpg
try m.raw --plan good.json -o a.npy --frames 0:9
try m.raw --plan good.json -o a.npy --frames 0:3:2
try m.raw --plan good.json -o a.npy --frame 1
try m.raw --plan good.json -o a.png --frame 3
try m.raw --plan good.json -o a.npy --compat scipy
try m.raw --plan good.json -o m.raw --force
try m.raw --plan good.json -o good.json --force
try none.raw --plan good.json -o a.npy
try m.raw --plan none.json -o a.npy
head -c 2000 m.raw >cut.raw
try cut.raw --plan good.json -o a.npy
head -c 700 m.raw >cut.raw
try cut.raw --plan good.json -o a.npy
try - --plan good.json -o a.npy <cut.raw
try - --plan good.json -o a.npy </dev/null
# the plan and the file
plan bad '"samples": 64, "lines": 6'
try m.raw --plan bad.json -o a.npy
plan bad "$raw, \"axes\": 1"
try m.raw --plan bad.json -o a.npy
plan bad '"samples": 32'
try m.npy --plan bad.json -o a.npy
seq 1 32 >line.txt
plan bad '"background": "line.txt"'
try m.npy --plan bad.json -o a.npy
plan bad "\"axis\": {\"k\": [$(seq -s , 1 16)]}"
try m.npy --plan bad.json -o a.npy
try m.raw --plan good.json --enface face.npy,20:10
try m.raw --plan good.json --enface face.npy,30:40
plan bad '"lines": 4'
try m.npy --plan bad.json -o a.npy
plan bad '"dtype": "u8"'
try m.npy --plan bad.json -o a.npy
plan bad '"header_bytes": 128'
try m.npy --plan bad.json -o a.npy
plan bad "$raw, \"packing\": 14"
try m.raw --plan bad.json -o a.npy
plan bad '"samples": 63, "lines": 6, "packing": 12'
try m.raw --plan bad.json -o a.npy --frames 0:1
plan bad "$raw, \"average_lines\": 4"
try m.raw --plan bad.json -o a.npy
plan bad "$raw, \"average_frames\": 4"
try m.raw --plan bad.json -o a.npy
plan bad "$raw, \"fixed_pattern\": 4"
try m.raw --plan bad.json -o a.npy
plan bad "$raw, \"output\": \"complex\""
try m.raw --plan bad.json -o a.png
# tables
plan bad "$raw, \"axis\": {\"k\": \"t.txt\"}"
seq 1000000 1000 1062000 >t.txt
try m.raw --plan bad.json -o a.npy
seq 1000000 1000 1063000 | sed '9s/.*/1001000/' >t.txt
try m.raw --plan bad.json -o a.npy
seq 1000000 1000 1063000 | sed '9s/.*/nan/' >t.txt
try m.raw --plan bad.json -o a.npy
seq 1000000 1000 1063000 | sed '9s/.*/one/' >t.txt
try m.raw --plan bad.json -o a.npy
seq 800 863 >t.txt
plan bad "$raw, \"axis\": {\"wavelength\": \"t.txt\"}"
try m.raw --plan bad.json -o a.npy
# pictures
plan good "$raw"
try m.raw --plan good.json --enface a.foo
try m.raw --plan good.json --enface a.npy,10:40
touch there.npy
try m.raw --plan good.json --mip there.npy
try m.raw --plan good.json --plot a.gif
ls
# not refused, but said: of one line the mean is the line
plan mean '"samples": 64, "lines": 1, "dtype": "u16", "background": "mean"'
"$airy" oct m.raw --plan mean.json -o mean.npy 2>said >/dev/null; echo $?
grep -c 'what is left of it is rounding' said

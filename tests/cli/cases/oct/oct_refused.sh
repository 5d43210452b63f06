. "$cli/check.sh"
try() { expect "$1"; shift; "$airy" oct "$@" --quiet; echo $?; }
plan() { name=$1; shift; echo "{$*}" >"$name.json"; }
$airy simulate oct m.raw --samples 64 --lines 6 --frames 3 --quiet || exit 1
$airy simulate oct m.npy --samples 64 --lines 6 --frames 3 --quiet || exit 1
raw='"samples": 64, "lines": 6, "dtype": "u16"'
plan good "$raw"
try 'oct needs a plan' m.raw
try 'oct needs an output' m.raw --plan good.json
try 'a result is no JPEG' m.raw --plan good.json -o a.jpg
try 'frames beyond the file are refused' m.raw --plan good.json -o a.npy --frames 0:9
try 'frames with a step are refused' m.raw --plan good.json -o a.npy --frames 0:3:2
try 'a frame is for a picture only' m.raw --plan good.json -o a.npy --frame 1
try 'a picture of a frame beyond the results is refused' m.raw --plan good.json -o a.png --frame 3
try 'an unknown program to be compatible with has a list of those that are known' m.raw --plan good.json -o a.npy --compat scipy
try 'a raw file is no output' m.raw --plan good.json -o m.raw --force
try 'the plan is no output' m.raw --plan good.json -o good.json --force
try 'a file that is not there is named' none.raw --plan good.json -o a.npy
try 'a plan that is not there is named' m.raw --plan none.json -o a.npy
head -c 2000 m.raw >cut.raw
try 'a file that ends inside a later frame is refused' cut.raw --plan good.json -o a.npy
head -c 700 m.raw >cut.raw
try 'a file that ends inside the first frame is refused' cut.raw --plan good.json -o a.npy
try 'a pipe that ends inside a frame is refused' - --plan good.json -o a.npy <cut.raw
try 'a pipe without frames is refused' - --plan good.json -o a.npy </dev/null
# the plan and the file
plan bad '"samples": 64, "lines": 6'
try 'a raw file needs a dtype in the plan' m.raw --plan bad.json -o a.npy
plan bad "$raw, \"axes\": 1"
try 'an unknown key of the plan is recognized' m.raw --plan bad.json -o a.npy
plan bad '"samples": 32'
try 'samples of the plan are those of the file' m.npy --plan bad.json -o a.npy
seq 1 32 >line.txt
plan bad '"background": "line.txt"'
try 'a background of the plan has as many samples as the file' m.npy --plan bad.json -o a.npy
plan bad "\"axis\": {\"k\": [$(seq -s , 1 16)]}"
try 'an axis of the plan has a plausible size' m.npy --plan bad.json -o a.npy
try 'bins of an enface image rise' m.raw --plan good.json --enface face.npy,20:10
try 'bins of an enface image are those of the results' m.raw --plan good.json --enface face.npy,30:40
plan bad '"lines": 4'
try 'lines of the plan are those of the file' m.npy --plan bad.json -o a.npy
plan bad '"dtype": "u8"'
try 'the dtype of the plan is that of the file' m.npy --plan bad.json -o a.npy
plan bad '"header_bytes": 128'
try 'a file with a shape has no header of the plan'\''s' m.npy --plan bad.json -o a.npy
plan bad "$raw, \"packing\": 14"
try 'an unknown packing is refused' m.raw --plan bad.json -o a.npy
plan bad '"samples": 63, "lines": 6, "packing": 12'
try 'packed samples fill whole bytes' m.raw --plan bad.json -o a.npy --frames 0:1
plan bad "$raw, \"average_lines\": 4"
try 'lines are averaged in whole groups' m.raw --plan bad.json -o a.npy
plan bad "$raw, \"average_frames\": 4"
try 'frames are averaged in whole groups' m.raw --plan bad.json -o a.npy
plan bad "$raw, \"fixed_pattern\": 4"
try 'a fixed pattern needs its frames' m.raw --plan bad.json -o a.npy
plan bad "$raw, \"output\": \"complex\""
try 'complex results have no picture' m.raw --plan bad.json -o a.png
# tables
plan bad "$raw, \"axis\": {\"k\": \"t.txt\"}"
seq 1000000 1000 1062000 >t.txt
try 'an axis has as many numbers as there are samples' m.raw --plan bad.json -o a.npy
seq 1000000 1000 1063000 | sed '9s/.*/1001000/' >t.txt
try 'an axis rises or falls all along' m.raw --plan bad.json -o a.npy
seq 1000000 1000 1063000 | sed '9s/.*/nan/' >t.txt
try 'an axis is finite' m.raw --plan bad.json -o a.npy
seq 1000000 1000 1063000 | sed '9s/.*/one/' >t.txt
try 'an axis is of numbers' m.raw --plan bad.json -o a.npy
seq 800 863 >t.txt
plan bad "$raw, \"axis\": {\"wavelength\": \"t.txt\"}"
try 'a wavelength has a plausible size' m.raw --plan bad.json -o a.npy
# pictures
plan good "$raw"
try 'an enface image has a known format' m.raw --plan good.json --enface a.foo
try 'an enface image lies in the bins' m.raw --plan good.json --enface a.npy,10:40
touch there.npy
try 'a projection that is there is not replaced' m.raw --plan good.json --mip there.npy
try 'a plot has a known format' m.raw --plan good.json --plot a.gif
expect 'no other file is written'
ls
# Not refused: of one line the mean is the line.
plan mean '"samples": 64, "lines": 1, "dtype": "u16", "background": "mean"'
expect 'a background of one line is taken'
"$airy" oct m.raw --plan mean.json -o mean.npy 2>said >/dev/null; echo $?
expect 'a background of one line has a warning'
grep -c 'what is left of it is rounding' said

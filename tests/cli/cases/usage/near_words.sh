# A misspelt word of a list: the message names the one that was meant, and nothing is written.
. "$cli/check.sh"
code=0
try() { expect "$1"; shift; $airy "$@" --quiet; [ $? = $want ] || { echo "exit code not $want: $*"; code=1; }; }
want=2
try 'a unit without its caret is recognized' integrate $small -o o.h5 --unit q_nm-1
try 'a unit without its exponent is recognized' integrate $small -o o.h5 --unit q_nm
try 'an azimuthal unit without its caret is recognized' integrate $small -o o.h5 --bins 9x9 --azimuthal qoop_nm-1
try 'a splitting without its last letter is recognized' integrate $small -o o.h5 --split ful
try 'a method with swapped letters is recognized' integrate $small -o o.h5 --method scr
try 'an error model with a missing letter is recognized' integrate $small -o o.h5 --error-model posson
try 'a layout in the singular is recognized' integrate $small -o o.h5 --layout thread
try 'what to do on an error is recognized' integrate $small -o o.h5 --on-error sotp
try 'a file layout with a missing letter is recognized' integrate $small -o o.h5 --format nxazin
try 'a program to be compatible with is recognized' integrate $small -o o.h5 --compat pyfia
try 'a dtype of raw frames is recognized' integrate $small -o o.h5 --raw 487x195,unit32
try 'a colormap with a missing letter is recognized' view $small -o o.png --colormap virdis
try 'a letter is like no axis' view $small -o o.png --flip z
try 'a border with swapped letters is recognized' blur $small -o o.npy --sigma 1 --border relfect
try 'a border value that is a word has its own message' blur $small -o o.npy --sigma 1 --border value=x
try 'a dtype of the result is recognized' blur $small -o o.npy --sigma 1 --dtype flot32
try 'a convolution mode is recognized' convolve $small --kernel $small -o o.npy --mode vald
try 'a convolution algorithm is recognized' convolve $small --kernel $small -o o.npy --algorithm separabel
try 'a projection is recognized' reduce $small -o o.npy --by man
try 'a centre of clips is recognized' clip $small --center meidan
try 'a spread of clips is recognized' clip $small --spread mda
try 'a compression is recognized' compress $small o.h5 --filter bslz
try 'a method of finding sources is recognized' sources $small --method simpel
try 'a kind of plot is recognized' plot $small -o o.png --kind waterfal
try 'a dtype of simulated frames is recognized' simulate diffraction o.h5 --dtype unit16
try 'a short dtype of simulated spectra is like several' simulate oct o.raw --dtype u61
try 'the second word of a command is recognized' simulate difraction o.h5
try 'a compression of streams is recognized' stream $small --to tcp://127.0.0.1:1 --filter bsl4
try 'a case of the benchmark is recognized' bench --case 4m
want=1
try 'a detector is recognized' integrate $small -o o.h5 --detector pilatus1mm --dist 1
try 'a calibrant in other letters is recognized' calibrate $small -o o.poni --calibrant LAB7 --energy 20 --dist 0.2
try 'a calibrant without its number is recognized' simulate diffraction o.h5 --calibrant CeO
printf '{"samples": 8, "outptu": "db"}' >key.json
printf '{"samples": 8, "output": "magnitud"}' >word.json
try 'a key of a plan is recognized' oct $small --plan key.json -o o.npy
try 'a word of a plan is recognized' oct $small --plan word.json -o o.npy
expect 'nothing is written'
set -- o.*
[ "$1" = 'o.*' ] || { echo "written: $*"; code=1; }
exit $code

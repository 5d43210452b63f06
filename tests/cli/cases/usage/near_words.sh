# a misspelt word of a list: the one that was meant is named, and nothing is written
code=0
try() { $airy "$@" --quiet; [ $? = $want ] || { echo "exit code not $want: $*"; code=1; }; }
want=2
try integrate $small -o o.h5 --unit q_nm-1
try integrate $small -o o.h5 --unit q_nm
try integrate $small -o o.h5 --bins 9x9 --azimuthal qoop_nm-1
try integrate $small -o o.h5 --split ful
try integrate $small -o o.h5 --method scr
try integrate $small -o o.h5 --error-model posson
try integrate $small -o o.h5 --layout thread
try integrate $small -o o.h5 --on-error sotp
try integrate $small -o o.h5 --format nxazin
try integrate $small -o o.h5 --compat pyfia
try integrate $small -o o.h5 --raw 487x195,unit32
try view $small -o o.png --colormap virdis
try view $small -o o.png --flip z
try blur $small -o o.npy --sigma 1 --border relfect
try blur $small -o o.npy --sigma 1 --border value=x
try blur $small -o o.npy --sigma 1 --dtype flot32
try convolve $small --kernel $small -o o.npy --mode vald
try convolve $small --kernel $small -o o.npy --algorithm separabel
try reduce $small -o o.npy --by man
try clip $small --center meidan
try clip $small --spread mda
try compress $small o.h5 --filter bslz
try sources $small --method simpel
try plot $small -o o.png --kind waterfal
try simulate diffraction o.h5 --dtype unit16
try simulate oct o.raw --dtype u61
try simulate difraction o.h5
try stream $small --to tcp://127.0.0.1:1 --filter bsl4
try bench --case 4m
want=1
try integrate $small -o o.h5 --detector pilatus1mm --dist 1
try calibrate $small -o o.poni --calibrant LAB7 --energy 20 --dist 0.2
try simulate diffraction o.h5 --calibrant CeO
printf '{"samples": 8, "outptu": "db"}' >key.json
printf '{"samples": 8, "output": "magnitud"}' >word.json
try oct $small --plan key.json -o o.npy
try oct $small --plan word.json -o o.npy
set -- o.*
[ "$1" = 'o.*' ] || { echo "written: $*"; code=1; }
exit $code

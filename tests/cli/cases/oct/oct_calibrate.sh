# two simulated mirrors tell axis and dispersion; with the plan the peak is as narrow as theory has it
light="--dispersion 30,-12 --lines 6"
$airy simulate oct near.raw --reflectors 500:-20 $light --write-plan truth.json --quiet || exit 1
$airy simulate oct far.npy --reflectors 1400:-20 $light --quiet || exit 1
$airy simulate oct far.h5 --reflectors 1400:-20 $light --quiet || exit 1
$airy simulate oct dark.npy --reflectors 0:-300 $light --quiet || exit 1
echo '{"samples": 2048, "lines": 6, "dtype": "u16", "window": "hann"}' >start.json
# of each mirror: after at most 1.05 of theory, before 5 of it or more; the phase that is left in radians
judge() { awk '/^mirror/ { sub(",", "", $6); print $2, ($8 <= 1.05 * $11 ? "narrow" : "broad"), ($6 > 5 * $11 ? "was broad" : "was narrow"), ($(NF - 3) < 0.1 ? "straight" : "crooked") } !/^mirror/ { print $1 }'; }
$airy oct calibrate near.raw far.npy --plan start.json --distance 900 -o plan.json >said && judge <said
grep '^depth' said | awk '{ print ($2 > 3.4295 && $2 < 3.4988 ? "1 percent of 3.4642 um a bin" : $0) }'
$airy oct calibrate near.raw far.h5 --plan start.json --dark dark.npy -o other.json --json >said.json && grep -c -e '"theory_bins"' -e '"dispersion"' -e '"degree"' said.json
# what airy oct makes of a mirror with that plan: the brightest bin, three bins on either side are far below
$airy simulate oct far.raw --reflectors 1400:-20 $light --quiet
sed 's/"output": "db"/"output": "db", "depth": [300, 500]/' plan.json >deep.json
$airy oct far.raw --plan deep.json -o far_profile.npy --quiet | grep -o 'peak'
# dispersion alone, with the axis known; then the axis, with the dispersion known
sed 's/"dispersion": .*\],*/"interpolation": "cubic",/; /^  "interpolation": "cubic",$/{x;s/^/x/;/^xx/{x;d};x}' truth.json >axis.json
$airy oct calibrate near.raw --plan axis.json --fit dispersion -o d.json | awk '/^dispersion/ { print (2 * $4 + 3 * $5 > 21 && 2 * $4 + 3 * $5 < 27 ? "curvature of 24 rad" : $0) }'
$airy oct calibrate near.raw --plan truth.json --fit axis -o k.json | awk '/^mirror/ { print ($8 <= 1.05 * $11 ? "narrow" : $0) }'
# one line alone, and what cannot be
$airy oct calibrate far.npy -o one.json --degree 3 --quiet | grep -c poly
$airy oct calibrate near.raw far.npy --plan start.json; echo $?
$airy oct calibrate near.raw -o x.json; echo $?
$airy oct calibrate far.npy far.npy -o x.json; echo $?
$airy simulate oct short.npy --samples 1024 --reflectors 500:-20 $light --quiet && $airy oct calibrate far.npy short.npy -o x.json; echo $?
$airy oct calibrate far.npy --dark dark.npy --dark dark.npy -o x.json; echo $?
$airy oct calibrate far.npy --dark short.npy -o x.json; echo $?
$airy oct calibrate far.npy --distance 10 -o x.json; echo $?
$airy oct calibrate dark.npy -o x.json; echo $?
$airy simulate oct bright.npy --reflectors 500:-10 --exposure 1.4 $light --quiet && $airy oct calibrate bright.npy -o x.json; echo $?
$airy simulate oct deep.npy --reflectors 3540:-20 --lines 6 --linear-k --quiet && $airy oct calibrate deep.npy -o x.json; echo $?
$airy simulate oct close.npy --reflectors 8:-20 $light --quiet && $airy oct calibrate close.npy -o x.json; echo $?
$airy simulate oct tiny.npy --samples 32 --reflectors 100:-20 $light --quiet && $airy oct calibrate tiny.npy -o x.json; echo $?
$airy oct calibrate far.npy --plan start.json -o plan.json; echo $?
$airy oct calibrate far.npy -o plan.json --degree 9; echo $?
ls | grep -e '^x' -e partial
true

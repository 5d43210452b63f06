# One parser: decimal, finite, the whole text; nan and inf only where a pixel may have them.
. "$cli/check.sh"
$airy simulate sky y.npy --height 8 --width 8 --quiet
try() { # SENTENCE WHAT COMMAND...
    expect "$1" && what=$2
    shift 2
    $airy "$@" --quiet >out 2>err
    echo "$what $? $(sed 's/; see .*//' err)"
}
for value in 0x10 0x1p3 inf -infinity nan 'nan(1)' 1e400 ' 5' '5 ' 5x 1,5 + - '' +5 -.5 5. 1e-3 1E+2 1e-400; do
    try "a threshold is read from '$value'" "'$value'" threshold y.npy --above="$value" -o o.npy --force
done
try 'a quantile is decimal' 0x10 stats y.npy --quantiles 50,0x10
try 'a limit of a histogram is finite' inf stats y.npy --histogram 4,0,inf
try 'a sigma is no nan' nan blur y.npy --sigma nan -o o.npy
try 'each of several sigmas is decimal' 0x2 blur y.npy --sigma 1,0x2 -o o.npy
try 'a kappa is decimal' 0x1 clip y.npy --kappa 0x1
try 'a limit of a picture is no nan' nan view y.npy -o o.png --limits 0,nan
try 'a rank is decimal' 0x10 filter rank y.npy --rank 0x1 -o o.npy
try 'a limit of memory is decimal' 0x4000 stats y.npy --memory-limit 0x4000
try 'a number of times is finite' inf oct y.npy --plan p.json --repeat infs
try 'a number of seconds is decimal' 0x10 oct y.npy --plan p.json --repeat 0x10s
for value in nan NaN inf -inf 0x10 nan0; do
    try "a dummy value is read from '$value'" "$value" stats y.npy --dummy="$value"
    try "a border value is read from '$value'" "$value" blur y.npy --sigma 1 --border value="$value" -o o.npy --force
done
for level in loud '' warn; do
    expect "a level of messages is read from '$level' in the environment"
    echo "'$level' $(AIRY_LOG=$level $airy stats y.npy 2>&1 >out)"
done
expect 'an unknown level of messages is reported once'
AIRY_LOG=loud $airy --version 2>&1 | grep -c AIRY_LOG
try 'frames rise' 5:2 convert $small --frames 5:2 -o o.npy
try 'a step of frames is at least 1' 0 convert $small --frames 0:4:0 -o o.npy
try 'axes have an x between them' , info --fits 2048,2048
try 'images that are to fit have a type' none info --fits 2048x2048
try 'a unit has its scale' q integrate $small --unit q -o o.h5

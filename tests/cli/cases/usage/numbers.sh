# one parser: decimal, finite, the whole text; nan and inf only where a pixel may have them
$airy simulate sky y.npy --height 8 --width 8 --quiet
try() { # WHAT COMMAND...
    what=$1
    shift
    $airy "$@" --quiet >out 2>err
    echo "$what $? $(sed 's/; see .*//' err)"
}
for value in 0x10 0x1p3 inf -infinity nan 'nan(1)' 1e400 ' 5' '5 ' 5x 1,5 + - '' +5 -.5 5. 1e-3 1E+2 1e-400; do
    try "'$value'" threshold y.npy --above="$value" -o o.npy --force
done
echo lists
try 0x10 stats y.npy --quantiles 50,0x10
try inf stats y.npy --histogram 4,0,inf
try nan blur y.npy --sigma nan -o o.npy
try 0x2 blur y.npy --sigma 1,0x2 -o o.npy
try 0x1 clip y.npy --kappa 0x1
try nan view y.npy -o o.png --limits 0,nan
try 0x10 filter rank y.npy --rank 0x1 -o o.npy
try 0x4000 stats y.npy --memory-limit 0x4000
try inf oct y.npy --plan p.json --repeat infs
try 0x10 oct y.npy --plan p.json --repeat 0x10s
echo pixels
for value in nan NaN inf -inf 0x10 nan0; do
    try "$value" stats y.npy --dummy="$value"
    try "$value" blur y.npy --sigma 1 --border value="$value" -o o.npy --force
done
echo environment
for level in loud '' warn; do
    echo "'$level' $(AIRY_LOG=$level $airy stats y.npy 2>&1 >out)"
done
AIRY_LOG=loud $airy --version 2>&1 | grep -c AIRY_LOG

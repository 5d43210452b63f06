# what a command would ignore is refused; what limits it anyway is taken
$airy simulate diracs d.npy --size 8 --step 4 --quiet && mkdir said || exit 1
try() { want=$1; shift; "$airy" "$@" >said/out 2>&1; code=$?; [ $code = $want ] || { echo "$code: $*"; cat said/out; }; }
try 2 stats d.npy --explain
try 2 view d.npy -o d.png --device cpu
try 2 view d.npy -o e.png --memory-limit 1G
try 2 diff d.npy d.npy --profile
try 2 devices --device cpu
try 2 label d.npy --compat pyfai
try 2 simulate diracs e.npy --device cpu
try 2 stats d.npy --quiet --verbose
try 2 stats d.npy --profile p.json
try 2 bench decode $small --replay 2
try 2 bench decode $small --write
try 2 bench decode $small --bins 100
try 2 bench write $small --batch 4
try 2 bench stats --larger-than-memory
try 2 bench integrate --poni x.poni
try 2 bench decode $small --table --json
try 2 tune --show --table --json
try 0 convert d.npy -o=f.npy --threads 2
try 0 diff d.npy f.npy --threads 1 --json
try 2 diff d.npy f.npy --force
try 2 sky d.npy --pixels 0,0 --force
try 2 devices --force
mkfifo pipe && try 2 stats pipe --compare cpu,cpu; rm pipe
try 0 simulate --help
try 0 help simulate
$airy diff --help | grep -c -e --device -e --threads
$airy integrate --help | grep -c '^  --\(device\|threads\|memory-limit\|compat\|profile\|explain\)'
echo *

# how a device goes about the work, in tiles and copies, is no difference of the results
# drivers keep memory until the end of the process
ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
export ASAN_OPTIONS
spec=$($airy devices | grep -A 10 '"spec": "opencl\|"spec": "gpu' | tr -d '\n' | sed -n 's/.*"spec": "\([^"]*\)".*"usable": true.*/\1/p')
[ -n "$spec" ] || { echo 'no OpenCL device' >&2; exit 77; }
$airy simulate sky y.npy --height 300 --width 200 --quiet
$airy filter median y.npy -o b.npy --compare "cpu,$spec" --quiet >s && $airy filter median y.npy -o c.npy --compare "cpu,$spec" --memory-limit 300k --quiet >>s || exit 1
grep -e '"name"' -e '"different"' s | tr -d ' \n'

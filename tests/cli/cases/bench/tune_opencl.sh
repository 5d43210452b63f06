# a kernel's work-group on an OpenCL device: shown, set, measured, and no bit changes
# drivers keep memory until the end of the process
ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
AIRY_CACHE_DIR=$PWD/cache
export ASAN_OPTIONS AIRY_CACHE_DIR
AIRY_DEVICE=$($airy devices | grep -A 10 '"spec": "opencl\|"spec": "gpu' | tr -d '\n' | sed -n 's/.*"spec": "\([^"]*\)".*"usable": true.*/\1/p')
[ -n "$AIRY_DEVICE" ] || { echo 'no OpenCL device' >&2; exit 77; }
export AIRY_DEVICE
$airy tune --show --table >text && grep -q '^decode_blocks.blocks ' text && grep -q '^pipeline.batch_mib ' text || exit 1
$airy integrate $small --error-model poisson -o a.h5 --quiet || exit 2
$airy tune --set pipeline.batch_mib=1 --set pipeline.slots=1 --set pipeline.readers=1 --set unshuffle_large_blocks.group=1 --quiet >/dev/null || exit 3
$airy integrate $small --error-model poisson -o b.h5 --quiet && $airy diff a.h5 b.h5 >/dev/null || exit 4
$airy tune --sweep unshuffle_large_blocks --detector pilatus_100k --seconds 0.1 --table --quiet >text || exit 5
grep -q '^unshuffle_large_blocks .* [0-9]' text
$airy tune --set gather_tiles.group=128 --quiet >/dev/null 2>err
[ $? = 2 ] && grep -q 'gather_tiles.group = 128, expected 256, which is fixed' err || { cat err >&2; exit 6; }

# the OpenCL device that is there gives what the CPU gives
# drivers keep memory until the end of the process
ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
export ASAN_OPTIONS
spec=$($airy devices | grep -A 10 '"spec": "opencl\|"spec": "gpu' | tr -d '\n' | sed -n 's/.*"spec": "\([^"]*\)".*"usable": true.*/\1/p')
[ -n "$spec" ] || { echo 'no OpenCL device' >&2; exit 77; }
$airy integrate $small --error-model poisson -o cpu.h5 --device cpu --quiet && $airy integrate $small --error-model poisson -o cl.h5 --device "$spec" --quiet ||
    exit 1
# the coefficients are the same floats and the sums are doubles, so that results differ by roundings to f32
$airy diff cpu.h5 cl.h5 --rtol 4e-7 --atol 1e-9

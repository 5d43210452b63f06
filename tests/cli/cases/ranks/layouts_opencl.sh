# every layout of an OpenCL device gives the same bits: 64 frames
# drivers keep memory until the end of the process
ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
export ASAN_OPTIONS
spec=$($airy devices | grep -A 10 '"spec": "opencl\|"spec": "gpu' | tr -d '\n' | sed -n 's/.*"spec": "\([^"]*\)".*"usable": true.*/\1/p')
[ -n "$spec" ] || { echo 'no OpenCL device' >&2; exit 77; }
set -- $small $small $small $small $small $small $small $small
options="--bins 300 --error-model poisson --quiet --device $spec"
$airy integrate "$@" $options -o a.h5 || exit 1
for how in '--layout device' '--layout device --batch 5' '--layout serial'; do
    $airy integrate "$@" $options $how --force -o b.h5 && $airy diff a.h5 b.h5 >/dev/null || { echo "$how" >&2; exit 2; }
done
$airy integrate $small --device "$spec" --layout threads -o c.h5 2>said
[ $? = 2 ] && grep -q 'layout threads does not fit' said

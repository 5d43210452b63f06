# frames go to whichever device has room, and no bit tells to which
ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 # drivers keep memory until the end of the process
POCL_DEVICES='pthread pthread'
export ASAN_OPTIONS POCL_DEVICES
$airy devices | grep -q '"spec": "opencl:0:1"' || { echo 'no second OpenCL device' >&2; exit 77; }
two=opencl:0:0,opencl:0:1
$airy integrate $small $small $small --error-model poisson --batch 2 -o one.h5 --device opencl:0:0 --quiet || exit 1
$airy integrate $small $small $small --error-model poisson --batch 2 -o two.h5 --device $two --quiet || exit 2
$airy diff one.h5 two.h5 >/dev/null || exit 3
[ "$(AIRY_DEVICE=$two $airy devices | grep -c '"default": true')" = 2 ] || exit 10
AIRY_DEVICE=$two $airy integrate $small -o x.h5 --json --quiet | grep -q '"device": "opencl:0:0, opencl:0:1"' || exit 4
$airy integrate $small --device $two --explain | grep -q '^devices .*opencl:0:0 (.*; opencl:0:1 (' || exit 5
$airy integrate $small --device $two --profile=p.json -o y.h5 --quiet || exit 6
grep -q '"device": "opencl:0:1"' p.json || exit 7
$airy bench integrate $small --device $two --replay 1 --seconds 0.1 | grep -q '"device": "opencl:0:0, opencl:0:1"' || exit 8
$airy bench decode $small --device $two 2>err
[ $? = 2 ] && grep -q 'measures one device, not 2' err || exit 9
$airy integrate $small --device opencl:0:0,opencl:0:7 -o z.h5 2>err
[ $? = 1 ] && grep -q "no device 'opencl:0:7'" err

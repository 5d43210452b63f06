# a profile on an OpenCL device counts each launch of the work, and nothing of the warm-up; which kernels there are is known of PoCL
# drivers keep memory until the end of the process
ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
export ASAN_OPTIONS
AIRY_DEVICE=$("$airy" devices | tr -d '\n' | grep -o '"spec": "opencl[^}]*Portable Computing Language[^}]*"usable": true' | head -n 1 | cut -d '"' -f 4)
[ -n "$AIRY_DEVICE" ] || { echo 'no device of PoCL' >&2; exit 77; }
export AIRY_DEVICE
. "$cli/launches.sh"
work
count_launches

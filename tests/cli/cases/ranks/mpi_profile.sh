# The profile of several ranks is that of all devices of all of them.
. "$cli/mpi.sh"
export POCL_DEVICES="basic pthread"
"$airy" devices 2>/dev/null | grep -q '"spec": "opencl:0:1"' || { echo "no two OpenCL devices" >&2; exit 77; }
"$airy" integrate "$small" --bins 50 --device opencl:0:0 -o alone.h5 --profile=alone.json --quiet || exit 1
ranks 2 "$airy" integrate "$small" --bins 50 --batch 1 --device opencl:0:0,opencl:0:1 -o ranks.h5 --profile=ranks.json --quiet --threads 1 || exit 2
tables() { tr -d ' \n' <"$1" | grep -o '"name":"integrate_table","transfer":false,"count":[0-9]*'; }
tables alone.json
tables ranks.json

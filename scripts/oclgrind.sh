#!/bin/bash
# The kernels under Oclgrind: accesses outside of buffers, data races, uninitialised values. It is a simulator, a thousand times
# slower than a device, so that small cases are run, each in a process of its own.
#   scripts/oclgrind.sh BUILD                       the cases of tests/oclgrind/cases
#   scripts/oclgrind.sh BUILD EVERY [FAMILY...]     every EVERY-th case of these families, or of all that have kernels
# LIMIT=SECONDS of processor time are for one case (default 300); what takes longer is counted as skipped. A case fails where it gives
# another result or Oclgrind writes a message that tests/oclgrind/known does not list with its reason. Logs and the kernels that ran
# are in BUILD/oclgrind. Last lines: kernels that ran, of those there are; N passed, N failed, N skipped.
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd) || exit 1
every=${2:-}
shift $(($# < 2 ? $# : 2))
families=("$@")
[ $# -gt 0 ] || families=(core codec integrate rings peaks reduce label element move fft filter stencil rank hampel background oct tile
    opencl opencl_kernels opencl_integrate)
command -v oclgrind >/dev/null || { echo "no oclgrind: apt-get install oclgrind"; exit 1; }
there=$build/oclgrind
library=$(ldconfig -p | awk '/liboclgrind-rt.so/ { print $NF }' | head -n 1)
library=${library:-$(find /usr/lib /usr/local/lib -name liboclgrind-rt.so 2>/dev/null | head -n 1)}
mkdir -p "$there/log" && rm -f "$there"/log/* "$there/kernels"
grep -v -e '^#' -e '^$' "$source/tests/oclgrind/known" >"$there/known"
# Oclgrind's library is loaded first; -Bsymbolic: functions of ours call ours.
${CC:-cc} -shared -fPIC -Wl,-Bsymbolic "$source/tests/oclgrind/opencl.c" -o "$there/libOpenCL.so.1" "$library" -ldl -pthread \
    "-Wl,-rpath,$(dirname "$library")" || exit 1
# Passes of the compiler that Oclgrind 21.10 does not know the results of (freeze) are left out.
options='-cl-opt-disable -disable-llvm-passes'
check=$build/tests/airy-check device=$(LD_LIBRARY_PATH=$there oclgrind "$build/tools/airy/airy" devices 2>/dev/null |
    sed -n 's/.*"spec": "\([^"]*\)".*/\1/p' | grep -v cpu | head -n 1)
[ -n "$device" ] || { echo "Oclgrind's device is not found"; exit 1; }
export there check device options source AIRY_CACHE_DIR=none OCLGRIND_KERNELS=$there/kernels AIRY_LOG=off

summary() { # CASE LOG: its messages, each once
    [ ! -f "$2" ] || awk -v name="$1" '/^[A-Z]/ && !/suppressing|^OCLGRIND FATAL/ { kind = $0; sub(/ (at|to|from) (global|local|private|constant) .*/, "", kind) }
        /^\tKernel: / { print name ": " kind ": " $2; kind = "" }' "$2" | sort -u
}

one() { # CASE
    local name=$1 log=$there/log/${1//\//_} status
    (ulimit -t "${LIMIT:-300}" && LD_LIBRARY_PATH=$there timeout "$((20 * ${LIMIT:-300}))" oclgrind --data-races --uninitialized --local-mem-size 65536 --max-errors 1000000 --build-options "$options" \
        --log "$log" "$check" --device "$device" "$name") >"$log.tap" 2>&1
    status=$?
    if [ $status = 124 ] || [ $status -gt 128 ]; then
        echo "skip $name: more than ${LIMIT:-300} s"
    elif grep -q '^1\.\.0\|# SKIP' "$log.tap"; then
        echo "skip $name: not on this device"
    elif [ $status = 0 ] && ! summary "$name" "$log" | grep -qvEf "$there/known"; then
        echo "ok   $name"
    else
        echo "FAIL $name"
        grep -A8 '^not ok\|^#  ' "$log.tap" | head -n 8
        summary "$name" "$log"
        head -n 14 "$log"
    fi
}
export -f one summary

cases() {
    if [ -z "$every" ]; then
        grep -v '^#' "$source/tests/oclgrind/cases"
        return
    fi
    for family in "${families[@]}"; do
        LD_LIBRARY_PATH=$there oclgrind "$check" --list --device "$device" "$family" 2>/dev/null | grep -v '^#' |
            awk -v every="$every" 'NR % every == 1 || every == 1'
    done | sed 's#^[^/]*/##; s/ .*//'
}

# shellcheck disable=SC2016
cases | xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'one "$1" 2>/dev/null' one {} | tee "$there/result"
sort "$there/kernels" | uniq -c | sort -rn >"$there/kernels.counted"
all=$(cat "$source"/src/opencl/kernels/*.cl | tr '\n' ' ' | grep -oE '__kernel[^{;]*' | grep -oE 'void +[a-z0-9_]+ *\(' |
    grep -oE '[a-z0-9_]+ *\($' | tr -d '( ' | sort -u)
echo "$(sort -u "$there/kernels" | wc -l) of $(echo "$all" | wc -w) kernels ran; not: $(echo "$all" | grep -vxFf <(sort -u "$there/kernels") | tr '\n' ' ')"
awk '/^ok / { p++ } /^FAIL / { f++ } /^skip / { s++ }
    END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || p == 0 }' "$there/result"

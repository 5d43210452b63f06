#!/bin/bash
# Run the fuzzers of a build folder, JOBS at a time.
#   scripts/fuzz.sh BUILD                     seconds: the seeds of the tree and a fixed number of changes to them, the same on
#                                             every machine that gets through them in 30 s
#   scripts/fuzz.sh BUILD SECONDS [NAME...]   so long each, at random; goes on from what earlier runs found
# Inputs that crash are kept in BUILD/found/NAME; the long mode tries them first and throws away those that no longer do. One that
# crashes inside of a library of others counts as skipped in the short mode, as any change of ours may draw it: it does not decide
# over that change, but wants a guard in front of the library.
# What each has executed is added to BUILD/executions: commit, name, count. Last lines: executions of this run and of all in that
# file; N passed, N failed, N skipped.
set -u
all=()
build=$(cd "$1" && pwd) || exit 1
long=${2:-}
shift $(($# < 2 ? $# : 2))
cd "$(dirname "$0")/../tests/fuzz" || exit 1
commit=$(git describe --always --dirty 2>/dev/null || echo none)
touch "$build/executions"
before=$(wc -l <"$build/executions")
export build long commit ASAN_OPTIONS=allocator_may_return_null=1 AIRY_LOG=off

runs_of() { # NAME: changes that take about five seconds
    case $1 in
    calibrate | hdf5) echo 300 ;;
    integrate) echo 200 ;;
    device | detector) echo 1500 ;;
    lanes) echo 3000 ;;
    result) echo 800 ;;
    stack) echo 6000 ;;
    frames | text) echo 10000 ;;
    calibrant | oct_config | poni) echo 15000 ;;
    fits | tiff) echo 30000 ;;
    npy) echo 60000 ;;
    decode) echo 100000 ;;
    ring) echo 40000 ;;
    cbf | conv | edf | png | quote | stream | tuning) echo 200000 ;;
    *) echo 10000 ;;
    esac
}

in_library() { # LOG: the first frame that is neither the system's nor the sanitizer's lies in a library of others
    ! grep -q LeakSanitizer "$1" && awk '/^ *#[0-9]+ 0x/ {
        if (/\/(src\/[a-z]+|tests\/(fuzz|ref))\/[a-z0-9_]+\.[ch]:/) exit 1
        if (/\(.*\/lib(cfitsio|tiff|hdf5[a-z_]*|png[0-9]*|wcs|z|lz4|jpeg|zstd|lzma|webp|jbig|Lerc|deflate|cbor)\.so/) { hit = 1; exit 0 }
    } END { exit !hit }' "$1"
}

one() { # NAME
    local program=$build/tests/fuzz/fuzz_$1 corpus=$build/corpus/$1 found=$build/found/$1 log=$build/fuzz_$1.log kept arguments status
    arguments=(-timeout=25 -report_slow_units=25 -rss_limit_mb=2048 -max_len=65536 "-artifact_prefix=$found/")
    if [ -n "$long" ]; then
        for kept in "$found"/*; do
            [ ! -f "$kept" ] || ! "$program" "${arguments[@]}" "$kept" >"$log" 2>&1 || rm "$kept"
        done
        arguments+=("-max_total_time=$long" -fork=1 -ignore_crashes=1 -ignore_ooms=1 -ignore_timeouts=1)
    else
        arguments+=(-seed=1 "-runs=$(runs_of "$1")" -max_total_time=30)
        rm -rf "$corpus" "$found"
    fi
    mkdir -p "$corpus" "$found"
    [ ! -f "$1.dict" ] || arguments+=("-dict=$1.dict")
    arguments+=("$corpus")
    [ ! -d "corpus/$1" ] || arguments+=("corpus/$1")
    [ "$1" != fits ] || arguments+=(../golden/astro/fitsvariants)
    "$program" "${arguments[@]}" >"$log" 2>&1
    status=$?
    kept=$(find "$found" -type f)
    echo "$commit $1 $(grep -oE '^(Done [0-9]+ runs|#[0-9]+: cov)' "$log" | tail -n 1 | tr -dc 0-9)" >>"$build/executions"
    if [ $status = 77 ]; then
        echo "skip $1: no OpenCL device"
    elif [ $status = 0 ] && [ -z "$kept" ]; then
        echo "ok   $1: $(grep -E '^Done|^#[0-9]+: cov' "$log" | tail -n 1)"
    elif [ -z "$long" ] && in_library "$log"; then
        echo "skip $1: crashed in a library: $(grep -m 1 '^SUMMARY' "$log"); $kept"
    else
        echo "FAIL $1"
        grep -vE '^(INFO|#[0-9]+)' "$log" | tail -n 40
        echo "$kept"
    fi
}
export -f one in_library runs_of

[ $# -gt 0 ] || mapfile -t all < <(find "$build/tests/fuzz" -maxdepth 1 -type f -name 'fuzz_*' -printf '%f\n' | sed s/fuzz_// | sort)
# shellcheck disable=SC2016
printf '%s\n' "$@" "${all[@]}" | xargs -P "${JOBS:-$(nproc)}" -n 1 bash -c 'text=$(one "$1"); printf "%s\n" "$text"' one |
    tee "$build/fuzz.log"
awk -v before="$before" '{ all += $3 } NR > before { now += $3 } END { printf "%d executions, %d in all runs\n", now, all }' \
    "$build/executions"
awk '/^ok / { p++ } /^FAIL / { f++ } /^skip / { s++ }
    END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || p + s == 0 }' "$build/fuzz.log"

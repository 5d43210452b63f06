#!/bin/sh
# Which lines of src/ the tests reach: builds with counters, runs the suites, and prints a table by file. Faults are left
# out: where no memory is to be had, gcov cannot write its counters. So is installation.
#   scripts/coverage.sh BUILD [arguments of meson test, such as --suite cpu]
# BUILD/coverage/index.html shows the lines. Last line: lines reached, lines, percent. Templates and headers count once, however
# often they are compiled.
set -u
build=$1
shift
source=$(cd "$(dirname "$0")/.." && pwd)
[ -f "$build/build.ninja" ] || meson setup "$build" "$source" --buildtype=debugoptimized -Db_coverage=true >/dev/null || exit 1
ninja -C "$build" -j "${JOBS:-$(nproc)}" >/dev/null || exit 1
find "$build" -name '*.gcda' -delete
CHECK_SLICE=${CHECK_SLICE:-all} "$source/scripts/test.sh" "$build" --timeout-multiplier 5 --no-suite fault --no-suite install "$@" >"$build/coverage.log" 2>&1
tail -n 1 "$build/coverage.log"
mkdir -p "$build/coverage"
# Only what was compiled for the library, not what a test compiles again.
gcovr --root "$source" --filter "$source/src/" --exclude '.*/arm/.*' -j "${JOBS:-$(nproc)}" --gcov-ignore-parse-errors \
    --exclude-unreachable-branches --html-details "$build/coverage/index.html" --json-summary "$build/coverage/summary.json" \
    --txt "$build/coverage/table.txt" "$build" >/dev/null 2>"$build/coverage/gcovr.log" || { cat "$build/coverage/gcovr.log"; exit 1; }
cat "$build/coverage/table.txt"
awk '$1 == "TOTAL" { printf "%d of %d lines of src reached: %s\n", $3, $2, $4 }' "$build/coverage/table.txt"

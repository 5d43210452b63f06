#!/bin/sh
# Run the tests of a build folder, print what the failed ones said and the count. The TAP of every program is in BUILD/meson-logs/testlog.txt.
#   scripts/test.sh BUILD [arguments of meson test, such as --suite core]
# Last line: N passed, N failed, N skipped.
build=$1
shift
# Timeouts are for what hangs, not for slow machines: four times those of a fast one. The cases of the commands wait for a quarter of their
# time, so that one test more than there are cores keeps these busy.
meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 4 --num-processes $((${JOBS:-$(nproc)} + 1)) "$@"
status=$?
scripts/failures.sh "$build/meson-logs/testlog.txt"
scripts/count.sh "$build/meson-logs/testlog.txt"
exit $status

#!/bin/sh
# Each kind of bad input in tests/check/bad_input, a line "KIND: CASE...", has cases of airy-check by these names.
#   bad_input.sh BUILD SOURCE
set -u
build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
cases=" $("$build/tests/airy-check" --device cpu --list 'job*' 2>/dev/null | sed -n 's/^[^/]*\/\([^ ]*\) on .*/\1/p' | tr '\n' ' ')"
# A build without streams has none of their cases.
case $cases in *' job_live_files '*) streams=yes ;; *) streams= ;; esac
count=0
failed=0
while IFS=: read -r kind names; do
    count=$((count + 1))
    status=ok
    [ -n "$names" ] || status='not ok'
    for name in $names; do
        case "$name$streams" in job_live* | job_stream_*) [ -n "$streams" ] || continue ;; esac
        case $cases in *" $name "*) ;; *) echo "# there is no case $name" && status='not ok' ;; esac
    done
    [ "$status" = ok ] || failed=$((failed + 1))
    echo "$status $count - $kind"
done <"$source/tests/check/bad_input"
echo "1..$count"
[ $failed = 0 ]

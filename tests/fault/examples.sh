#!/bin/sh
# usage: examples.sh EXAMPLE LIBRARY STACK PONI
# Runs examples/messages.c, whose run has a message hook, or examples/rows.c, which fetches rows from a run, with LIBRARY (faults.c)
# preloaded, which makes each allocation fail in turn, alone and with all after it, each start of a thread, each read, open and stat:
# it ends in time, either as the undisturbed run did, with the same lines of the run, or with exit code 1 and one line on standard
# error. Of rows, a frame that could not be read may be bad. Prints TAP.
example=$1
library=$2
stack=$3
poni=$4
name=${example##*/example_}
case $name in messages) of_run='^run: warning: ' ;; *) of_run='^frame ' ;; esac
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
trap 'exit 1' INT TERM
unset AIRY_LOG
AIRY_DEVICE=cpu
AIRY_CACHE_DIR=none
FAULT_LOG=$top/log
export AIRY_DEVICE AIRY_CACHE_DIR FAULT_LOG

"$example" "$stack" "$poni" 2>"$top/undisturbed" | grep "$of_run" >"$top/want"
# The lines of the run in $top/got, with those of the undisturbed one for frames that are bad.
unread() {
    awk 'NR == FNR { want[FNR] = $0; next } /^frame [0-9]+ is bad: / { $0 = want[FNR] } { print }' "$top/want" "$top/got"
}

kinds='memory:ENOMEM memory:ENOMEM:stays thread:EAGAIN read:EINTR read:short open:EMFILE stat:EIO'
[ "$name" != rows ] || kinds="$kinds read:EIO read:end"
echo "1..$(echo "$kinds" | wc -w)"
number=0
for kind in $kinds; do
    number=$((number + 1))
    FAULT_KIND=${kind%%:*}
    FAULT_HOW=${kind#*:}
    FAULT_HOW=${FAULT_HOW%:stays}
    unset FAULT_STAYS
    case $kind in *:stays) export FAULT_STAYS=1 ;; esac
    FAULT_AT=1
    export FAULT_KIND FAULT_HOW FAULT_AT
    why=
    [ -s "$top/want" ] && [ ! -s "$top/undisturbed" ] || why="the undisturbed run: $(cat "$top/undisturbed")"
    while [ -z "$why" ]; do
        rm -f "$FAULT_LOG"
        LD_PRELOAD=$library timeout -k 5 60 "$example" "$stack" "$poni" >"$top/out" 2>"$top/err"
        code=$?
        grep -q '^fault' "$FAULT_LOG" 2>/dev/null || break
        lines=$(wc -l <"$top/err")
        grep "$of_run" "$top/out" >"$top/got"
        case $code in
        0) [ "$lines" = 0 ] && unread | cmp -s - "$top/want" || why="other lines" ;;
        1) [ "$lines" = 1 ] && grep -q "^$name: ." "$top/err" || why="$lines lines on standard error" ;;
        *) why="exit code $code" ;;
        esac
        [ -z "$why" ] || why="call $FAULT_AT ($(sed -n 's/^fault .*\///p' "$FAULT_LOG" | head -n 1)): $why"
        FAULT_AT=$((FAULT_AT + 1))
    done
    [ -n "$why" ] || [ "$FAULT_AT" -gt 2 ] || why="too few calls"
    if [ -z "$why" ]; then
        echo "ok $number - ${name}_$(echo "$kind" | tr : _) ($((FAULT_AT - 1)) calls)"
    else
        echo "not ok $number - ${name}_$(echo "$kind" | tr : _)"
        printf '%s\n' "$why" | sed 's/^/# /'
        head -n 3 "$top/err" | sed 's/^/# /'
    fi
done

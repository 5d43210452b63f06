#!/bin/sh
# Count test results in logs: TAP lines, and for tests that speak no TAP their exit status.
#   scripts/count.sh LOG...
awk '
/^=+ [0-9]+\/[0-9]+ =+$/ { close_test(); open = 1; tap = 0; result = "" }
/^ok [0-9]+/             { tap = 1; if (/# SKIP/) skipped++; else passed++ }
/^not ok [0-9]+/         { tap = 1; failed++; bad = 1 }
/^result: /              { result = $0; sub(/^result: /, "", result) }
function close_test() {
    if (!open)
        return
    if (tap) {
        # a program that died, or failed outside its cases
        if (result !~ /exit status 0/ && !bad)
            failed++
    } else if (result ~ /exit status 0/)
        passed++
    else if (result ~ /exit status 77/)
        skipped++
    else
        failed++
    bad = 0
}
END { close_test(); printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped; exit failed > 0 }
' "$@"

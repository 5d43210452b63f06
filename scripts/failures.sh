#!/bin/sh
# What the failed tests of a log said about it: the comments around each 'not ok', and the beginning of a sanitizer's report. A test
# that failed without either shows its last lines. Short, for who sees no more of a machine than this; prints nothing if none failed.
#   scripts/failures.sh LOG...     (BUILD/meson-logs/testlog.txt)
awk '
function show(line) {
    if (++shown <= 120)
        print "  " substr(line, 1, 300)
}
function clear() {
    # the way to empty an array in every awk
    split("", comments)
    split("", last)
    comment_count = last_count = report_left = explained = after = 0
}
function close_test() {
    if (failed && !explained)
        for (i = last_count > 12 ? last_count - 11 : 1; i <= last_count; i++)
            show(last[i])
    clear()
    failed = 0
}
/^=+ [0-9]+\/[0-9]+ =+$/ { close_test(); next }
/^test: /                { name = $NF }
/^result: /              { failed = !/exit status (0|77)$/ }
/^result: / && failed    { sub(/^result: */, ""); print "FAILED " name ": " $0 }
!failed                  { next }
/^(test|start time|duration|result|command): |^-+ std(out|err) -+$/ { next }
/^(ok|not ok) / { after = 0 }
/^not ok / {
    for (i = comment_count > 14 ? comment_count - 13 : 1; i <= comment_count; i++)
        if (comments[i] != comments[i - 1])
            show(comments[i])
    show($0)
    explained = after = 1
}
/^(ok|not ok) / { split("", comments); comment_count = 0; next }
/^#/ { if (after) show($0); else comments[++comment_count] = $0 }
# 8 frames and what is said around them
/(ERROR|WARNING): [A-Za-z]+Sanitizer|: runtime error: / && !report_left { report_left = 14; explained = 1 }
report_left > 0 { report_left--; show($0) }
/Assertion .* failed/ { show($0); explained = 1 }
/[^ ]/ { last[++last_count] = $0 }
END {
    close_test()
    if (shown > 120)
        print "  (" shown - 120 " lines more in the log)"
}' "$@"

# what is chosen, and why
chosen() { "$airy" integrate "$small" "$@" --explain 2>/dev/null | sed -n 's/^layout *//p; s/^because *//p' | tr '\n' ' '; }
chosen | grep -q '^threads one process' || exit 1
chosen --frames 0 | grep -q '^serial there is one frame' || exit 2
$airy integrate $small --layout serial --explain --json 2>/dev/null | grep -q '"layout": "serial"' || exit 3
chosen --layout serial | grep -q '^serial it is set'

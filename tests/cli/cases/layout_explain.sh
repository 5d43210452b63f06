$airy integrate $small --explain 2>/dev/null | grep -q '^layout   threads: one process' || exit 1
$airy integrate $small --frames 0 --explain 2>/dev/null | grep -q '^layout   serial: there is one frame' || exit 2
$airy integrate $small --layout processes --processes 2 --explain --json 2>/dev/null | grep -q '"layout": "processes"' || exit 3
$airy integrate $small --layout processes --processes 2 --explain 2>/dev/null | grep -q '^layout   processes: 2 processes (--processes) that share the threads'

$airy integrate $small --explain 2>/dev/null | grep -q '^why       one process' || exit 1
$airy integrate $small --frames 0 --explain 2>/dev/null | grep -q '^why       there is one frame' || exit 2
$airy integrate $small --layout serial --explain --json 2>/dev/null | grep -q '"layout": "serial"' || exit 3
$airy integrate $small --layout serial --explain 2>/dev/null | grep -q '^layout    serial'

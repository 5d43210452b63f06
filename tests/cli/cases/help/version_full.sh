[ -w /dev/full ] || { echo 'no /dev/full' >&2; exit 77; }
$airy --version >/dev/full 2>said
[ $? = 1 ] && grep -q 'standard output' said || exit 1
$airy --help >/dev/full 2>/dev/null
[ $? = 1 ]

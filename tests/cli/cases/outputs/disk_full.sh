mkdir disk
mount -t tmpfs -o size=40k none disk 2>/dev/null || { echo 'needs root and mount' >&2; exit 77; }
$airy integrate $small -o disk/y.h5
code=$?
[ ! -e disk/y.h5 ] || echo 'the output is there'
umount disk
exit $code

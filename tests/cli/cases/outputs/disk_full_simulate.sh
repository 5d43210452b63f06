mkdir disk
mount -t tmpfs -o size=100k none disk 2>/dev/null || { echo 'needs root and mount' >&2; exit 77; }
$airy simulate diffraction disk/y.h5 --detector pilatus_100k --frames 8
code=$?
[ -z "$(ls disk)" ] || echo 'something was left'
umount disk
exit $code

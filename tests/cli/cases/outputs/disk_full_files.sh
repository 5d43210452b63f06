# a full disk leaves nothing of a stack in several files
mkdir disk
mount -t tmpfs -o size=500k none disk 2>/dev/null || { echo 'needs root and mount' >&2; exit 77; }
$airy simulate diffraction disk/y_master.h5 --detector pilatus_100k --frames 16 --frames-per-file 2
code=$?
[ -z "$(ls disk)" ] || echo 'something was left'
umount disk
exit $code

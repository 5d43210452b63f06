# A case that does not fit TMPDIR is not begun, and the folder is gone.
TMPDIR=$PWD
export TMPDIR
$airy bench --case incompressible --frames 1000000 && exit 2
[ -z "$(ls)" ] && exit 1

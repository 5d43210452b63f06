# text files are written by several devices as an HDF5 file is
$airy integrate $small --bins 50 -o one.dat --quiet || exit 1
if ! $airy integrate $small --bins 50 --batch 1 --device cpu,opencl:0:0 -o two.dat --quiet 2>err; then
    grep -q 'no device' err && exit 0
    cat err >&2
    exit 1
fi
[ "$(ls two_*.dat | wc -l)" = 8 ]

# the bar's numbers differ and are there in full, of a row of pixels too, and near the last place of a double; infinities are bad pixels
npy() { printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4)}"; }
{ npy; printf '\0\0\200\77\0\0\0\100\0\0\200\177\0\0\200\377'; } >inf.npy # 1, 2, inf, -inf
{ npy; printf '\0\0\200\77\0\0\0\100\0\0\300\177\0\0\300\377'; } >nan.npy
view() { timeout 60 $airy view "$@" --colorbar || echo $?; }
view inf.npy -o inf.png
view nan.npy -o nan.png
cmp inf.png nan.png
view nan.npy -o level.png --limits 123456.0001,123456.0003
view nan.npy -o small.png --limits -2.5e-15,-1e-15
view nan.npy -o large.png --limits 1e16,10000000000000002
for file in inf level small large; do od -An -v -tu1 -j16 -N8 $file.png | awk -v f=$file '{ print f, 256 * $3 + $4, "x", 256 * $7 + $8 }'; done
# the largest number there is has nothing above it
printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2)}" >most.npy
printf '\377\377\377\377\377\377\357\177\377\377\377\377\377\377\357\177' >>most.npy
view most.npy -o most.png --log
view most.npy -o most.png --force

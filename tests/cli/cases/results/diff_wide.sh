# integers of 64 bits are compared as such, not as the f64 that they round to; a NaN has no sign
npy() { # DESCR BYTES
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': (1, 1)}"
    printf "$2"
}
npy '<u8' '\0\0\0\0\0\0\0\020' >a.npy
npy '<u8' '\1\0\0\0\0\0\0\020' >b.npy
npy '<i8' '\377\377\377\377\377\377\377\377' >c.npy
npy '<u8' '\377\377\377\377\377\377\377\377' >d.npy
npy '<i4' '\377\377\377\377' >e.npy
npy '<f4' '\0\0\300\377' >f.npy
for pair in 'a.npy b.npy' 'a.npy b.npy --atol 1' 'c.npy d.npy' 'c.npy e.npy' 'e.npy f.npy'; do
    $airy diff $pair
    echo $?
done
$airy simulate diffraction two.h5 --frames 2 --detector pilatus_100k --dtype uint16 --quiet
$airy convert two.h5 -o two.png; echo $?
$airy convert two.h5 --frames 0 -o one.png --quiet; echo $?

# numbers are numbers; null where JSON has none, digits where 64 bits are too few for it
npy() { # DESCR BYTES
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': (1, 1)}"
    printf "$2"
}
npy '<f4' '\0\0\300\077' >a.npy
npy '<f4' '\0\0\300\177' >b.npy
npy '<u8' '\377\377\377\377\377\377\377\377' >c.npy
npy '<i8' '\377\377\377\377\377\377\377\377' >d.npy
$airy simulate sky y.npy --height 4 --width 4 --quiet
for pair in 'a.npy b.npy' 'c.npy d.npy'; do
    $airy diff $pair --json
    echo $?
done
$airy diff a.npy y.npy --json | grep -e why -e equal

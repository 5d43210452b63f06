# values whose squares are not finite: steps of few values are measured, another deviation is refused, and no bound is a failure of --json
image() { # PATTERN: bytes of four elements of f64
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (32, 32)}"
    printf "$1$1$1$1" >four
    cat four four four four >sixteen
    cat sixteen sixteen sixteen sixteen >more
    cat more more more more
}
none='\0\0\0\0\0\0\0\0'
high='\0\0\0\0\0\0\160\145'   # 2^600
higher='\0\0\0\0\0\0\200\145' # 2^601
top='\0\0\0\0\0\0\330\177'    # 1.5 2^1022
low='\0\0\0\0\0\0\330\377'    # -1.5 2^1022
image "$none$high$none$higher" >few.npy
image "$low$top$top$top" >top.npy
for f in few top; do
    $airy reduce $f.npy --hot 3 -o $f.hot.npy --json
    echo $?
    $airy label $f.npy --sigma 2
    echo $?
    $airy sources $f.npy --method simple
    echo $?
done
ls *.hot.npy

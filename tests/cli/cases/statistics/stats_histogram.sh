# a plane without finite values has its row, and does not end the others'; where LO and HI are given the bins are there, and empty
npy() { # SHAPE BYTES
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': ($1)}"
    printf "$2"
}
one='\0\0\200\077' two='\0\0\0\100' nan='\0\0\300\177' infinite='\0\0\200\177' large='\0\0\200\133'
npy '3, 1, 2' "$one$two$nan$infinite$two$two" >cube.npy
npy '1, 2' "$nan$infinite" >none.npy
npy '1, 2' "$large$large" >large.npy
for options in 'cube.npy --each --histogram 2' 'cube.npy --each --histogram 2,0,4' 'none.npy --each --histogram 2' 'none.npy --histogram 2,0,4' 'none.npy --histogram 2' 'large.npy --histogram 2'; do
    $airy stats $options --quiet | tr -d ' \n' | grep -o '"\(count\|histogram\|lo\|counts\|below\|above\)":[^}"]*'
    echo "$options"
done
# its numbers are printed one by one: a million of them in a second
timeout 40 $airy stats large.npy --histogram 1000000 --quiet | grep -c '^ *[02],*$'

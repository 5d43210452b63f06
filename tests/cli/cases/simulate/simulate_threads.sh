# the frames do not depend on the threads, and differ from each other and from another seed's
for threads in 1 3; do
    $airy simulate diffraction s$threads.h5 --detector pilatus_100k --frames 3 --seed 5 --dtype uint16 --threads $threads --quiet || exit 1
    $airy convert s$threads.h5 -o s$threads.npy --quiet || exit 1
done
cmp s1.npy s3.npy || exit 1
$airy simulate diffraction t.h5 --detector pilatus_100k --frames 1 --seed 5 --dtype uint16 --quiet
$airy convert t.h5 -o t.npy --quiet
$airy simulate diffraction u.h5 --detector pilatus_100k --frames 1 --seed 6 --dtype uint16 --quiet
! $airy diff t.h5 u.h5 >/dev/null || exit 1

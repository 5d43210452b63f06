# the same numbers for an image and for the dataset it came from; two values are left out by the mask, and so are those that are no numbers
$airy convert $golden/astro/ks_cases.h5::/edge_exact -o a.npy --quiet || exit 1
$airy stats a.npy && $airy stats $golden/astro/ks_cases.h5::/edge_exact >b && $airy stats a.npy >a && cmp a b || exit 2
$airy stats a.npy --quantiles 0,50,100 --histogram 4,-1,3 --mad
# a stack: what its file marks as bad is said, and left out by a mask of one frame
$airy simulate diffraction gaps.h5 --detector pilatus_300k --frames 3 --gaps --quiet
$airy stats gaps.h5 2>said | grep -c '"max": 4294967295.0'
grep -o 'gaps.h5 marks 16558 pixels of a frame as bad, which are taken as values here; --mask=FILE leaves them out' said
$airy stats gaps.h5 --mask gaps.h5::/entry/instrument/detector/pixel_mask 2>said | grep '"masked"'
grep -c marks said
# the mask itself marks nothing; one with an axis of length 1 in front is of each frame
$airy stats gaps.h5::/entry/instrument/detector/pixel_mask 2>&1 >mask.json | grep -c marks
$airy convert gaps.h5::/entry/instrument/detector/pixel_mask -o mask.npy --quiet
{ printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '<u4', 'fortran_order': False, 'shape': (1, 619, 487)}"
    tail -c $((619 * 487 * 4)) mask.npy; } >mask1.npy
$airy stats gaps.h5 --mask mask1.npy --quiet | grep '"masked"'
env -u AIRY_DEVICE $airy stats a.npy --threads 1 2>&1 | grep -c '1 threads'
exit 0

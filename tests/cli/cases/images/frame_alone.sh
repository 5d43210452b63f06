# view and sources read the frame named alone: of files beside it that are cut, and of a stack that no memory holds
for i in 0 1 2; do $airy simulate sky f_$i.npy --height 16 --width 20 --sources 3 --seed $i --quiet || exit 1; done
$airy convert 'f_*.npy' -o cube.npy --quiet && truncate -s 900 f_2.npy || exit 2
for i in 0 1; do
    $airy view 'f_*.npy' --frame $i -o v.png --force --quiet 2>said || exit 3
    $airy view f_$i.npy -o w.png --force --quiet && cmp v.png w.png && $airy view cube.npy --frame $i -o w.png --force --quiet && cmp v.png w.png || exit 4
    $airy sources 'f_*.npy' --frame $i --method simple --quiet >s 2>said && $airy sources f_$i.npy --method simple --quiet | cmp - s || exit 5
done
$airy view 'f_*.npy' --frame 2 -o u.png 2>&1 | grep '^airy view:'; $airy sources 'f_*.npy' --frame 2 2>&1 | grep '^airy sources:'
[ ! -e u.png ] || exit 6
# 2 TB of zeros, where the file system has such files
{ printf '\223NUMPY\001\000v\000'; printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (500000, 1000, 1000), }"; } >s.npy
truncate -s 2000000000128 s.npy 2>said || { cat said >&2; exit 77; }
$airy view s.npy --frame 499999 -o z.png --quiet && $airy sources s.npy --frame 7 --mask s.npy --quiet | grep '"sources"'

# a mask of each plane, with --frame: the plane's own
for i in 0 1 2; do $airy simulate sky f_$i.npy --height 48 --width 64 --sources 9 --seed $i --quiet || exit 1; done
$airy convert 'f_*.npy' -o cube.npy --quiet && $airy threshold cube.npy --above 0.3 -o m.npy --quiet || exit 2
for i in 0 1 2; do
    $airy convert m.npy --frames $i -o m_$i.npy --quiet || exit 3
    for mask in m.npy m_$i.npy; do
        $airy sources cube.npy --frame $i --mask $mask --catalog $mask.csv --quiet --force >$mask.json && $airy view cube.npy --frame $i --mask $mask -o $mask.png --quiet --force || exit 4
    done
    cmp m.npy.csv m_$i.npy.csv && cmp m.npy.json m_$i.npy.json && cmp m.npy.png m_$i.npy.png || exit 5
done
cmp -s m.npy.png m_0.npy.png && exit 6
$airy convert m.npy --frames 0:2 -o two.npy --quiet || exit 7
$airy sources cube.npy --frame 1 --mask two.npy
$airy view cube.npy --frame 1 --mask two.npy -o v.png
[ ! -e v.png ]

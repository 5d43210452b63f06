# frames with dummy values of their own: normalisations differ between frames in any layout
$airy simulate diffraction gaps.h5 --detector pilatus_100k --frames 9 --seed 3 --quiet || exit 1
set -- gaps.h5 $small
for dummy in 0 3; do
    $airy integrate "$@" --dummy $dummy --bins 100 -o a.h5 --force --quiet || exit 2
    for how in '--layout serial' '--layout threads --threads 3 --batch 1'; do
        $airy integrate "$@" --dummy $dummy --bins 100 $how -o b.h5 --force --quiet || exit 3
        $airy diff a.h5 b.h5 >/dev/null || exit 4
    done
done

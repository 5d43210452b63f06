# every layout of the CPU gives the same bits: 64 frames
set -- $small $small $small $small $small $small $small $small
options='--bins 300 --error-model poisson --quiet'
$airy integrate "$@" $options -o a.h5 || exit 1
for how in '--layout serial' '--layout serial --threads 1' '--layout threads' '--layout threads --threads 1 --batch 5' \
    '--layout threads --threads 3 --batch 1' '--layout threads --threads 15'; do
    $airy integrate "$@" $options $how --force -o b.h5 && $airy diff a.h5 b.h5 >/dev/null || { echo "$how" >&2; exit 2; }
    [ ! -e b.h5.partial ] || exit 3
done
exit 0

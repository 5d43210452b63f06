# neither threads nor batches change a bit
$airy integrate $small --error-model poisson -o a.h5 --quiet || exit 1
for how in '--batch 1 --threads 1' '--batch 3 --threads 2' '--batch 8 --threads 5'; do
    $airy integrate $small --error-model poisson $how -o b.h5 --force --quiet && $airy diff a.h5 b.h5 >/dev/null || exit 2
done

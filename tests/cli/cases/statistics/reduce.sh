# frame i has i added to every valid pixel: mean and median are equal, std is sqrt(2); neither batches nor strips change a result
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 5 --same-frame --increment 5 --seed 3 --quiet
for by in mean median sum max min std; do
    $airy reduce s.h5 --by $by -o $by.npy --quiet || exit 1
done
$airy diff mean.npy median.npy --rtol 1e-14
$airy stats std.npy | grep -o '"max": 1.414213562373[0-9]'
$airy reduce s.h5 -o small.npy --memory-limit 4M --json && $airy diff mean.npy small.npy
$airy reduce s.h5 --by std -o small_std.npy --memory-limit 6M --quiet && $airy diff std.npy small_std.npy --rtol 1e-12
$airy reduce s.h5 --by median -o strips.npy --memory-limit 3M --threads 1 && $airy diff median.npy strips.npy
$airy reduce s.h5 --by median -o none.npy --memory-limit 1200k --threads 1; echo $?
$airy reduce s.h5 s.h5 --by max -o twice.npy --quiet && $airy diff twice.npy max.npy
$airy diff max.npy min.npy >/dev/null || echo differ
$airy reduce s.h5 -o mean.npy; echo $?
$airy reduce s.h5; echo $?
$airy reduce s.h5 --by mode -o x.npy; echo $?
$airy reduce s.h5 -o s.h5 --force; echo $?

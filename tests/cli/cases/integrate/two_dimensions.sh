# Cells of radius and chi: what the file holds, the same by --config, and what is refused by name.
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 2 --seed 4 --write-poni s.poni --quiet
$airy integrate s.h5 --poni s.poni -o c.h5 --bins 50x24 --error-model poisson --quiet || exit 1
$airy info c.h5 | sed -e 's/integrate [0-9.]*:/integrate:/' -e 's/errors, .*/errors/' | grep -E '^result|result/'
$airy integrate s.h5 -o again.h5 --config c.h5 --quiet && $airy diff c.h5 again.h5 >/dev/null && echo same
$airy integrate s.h5 --poni s.poni -o p.h5 --bins 50x24 --split pseudo --azimuth-range 20,80 --quiet && echo pseudo
$airy integrate s.h5 --poni s.poni -o c.xye --bins 50x24
echo $?
$airy integrate s.h5 --poni s.poni -o d.h5 --bins 50 --split pseudo
echo $?
$airy integrate s.h5 --poni s.poni -o d.h5 --bins 50x24 --unit chi_deg
echo $?
for bins in 50x 50x0 x24 5000x5000 50x24x2 50y2; do
    $airy integrate s.h5 --poni s.poni -o d.h5 --bins $bins
    echo $?
done
echo "left: $(ls | grep -c d.h5)"

# simulate, look, integrate, plot, view; every step says what it made
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 8 --seed 3 --gaps --write-poni s.poni --json >made || exit 1
grep -q '"frames": 8' made || exit 2
$airy info s.h5 | grep -q '8 frames of 195 x 487 uint32' || exit 3
$airy info s.h5 --json | grep -q '"dtype": "uint32"' || exit 4
$airy info s.poni | grep -q '"detector": "Pilatus' || exit 5
$airy integrate s.h5 --poni s.poni --bins 200 --error-model poisson -o r.h5 --json >done || exit 6
grep -q '"frames": 8' done && grep -q '"bad": 0' done || exit 7
$helper nan r.h5 || exit 8
$airy info r.h5 | grep -q "result/sem " || exit 9
$airy view s.h5 -o v.png --log --colorbar --frame 2 --quiet && [ "$(head -c 4 v.png | tail -c 3)" = PNG ] || exit 10
command -v gnuplot >/dev/null || exit 0
for suffix in png svg pdf; do
    $airy plot r.h5 -o "it's.$suffix" --quiet && [ -s "it's.$suffix" ] || exit 11
done
$airy plot r.h5 -o one.png --frame 0 --quiet && [ -s one.png ] || exit 12

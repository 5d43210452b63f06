# every method, splitting and error model has a row, and the options that say which are refused
$airy bench integrate $small --poni "${small%.h5}.poni" --bins 40x6 --all --seconds 0.01 --replay 1 --quiet >rows || exit 1
for row in '1-D full csr, none' '1-D bbox lut, poisson' '1-D no histogram, azimuthal' '1-D no csc, variance' \
    '1-D full, median' '2-D pseudo histogram, none' '2-D full csr, poisson' '2-D bbox, clip 3, hybrid'; do
    grep -q "\"name\": \"$row\"" rows || exit 2
done
[ "$(grep -c '"frames/s"' rows)" = 133 ] || exit 3
$airy bench integrate --all --split no --quiet 2>err && exit 4
grep -q -e '--all and --split exclude each other' err || exit 5
$airy bench decode --all --quiet 2>err && exit 6
grep -q -e '--all: bench decode does not use it' err

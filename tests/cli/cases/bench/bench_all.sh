# every splitting and error model has a row that names the engine and guesses no reason, and the options that say which are refused
$airy bench integrate $small --poni "${small%.h5}.poni" --bins 40x6 --all --seconds 0.01 --replay 1 --quiet >rows || exit 1
for row in '1-D full, none' '1-D bbox, poisson' '1-D no, azimuthal' '1-D no, variance' '1-D full, median' '2-D pseudo, none' \
    '2-D full, poisson' '2-D bbox, clip 3, hybrid'; do
    grep -q "\"name\": \"$row\"" rows || exit 2
done
[ "$(grep -c '"frames/s"' rows)" = 49 ] || exit 3
[ "$(grep -c '"note": "by [^;]*"' rows)" = 49 ] || exit 8
$airy bench integrate --all --split no --quiet 2>err && exit 4
grep -q -e '--all and --split exclude each other' err || exit 5
$airy bench decode --all --quiet 2>err && exit 6
grep -q -e '--all: bench decode does not use it' err

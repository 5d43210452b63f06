# frames of a growing file become the rows that its finished file gives; with their number the file is the same to the last dataset
. "$cli/await.sh"
$airy integrate $small --poni ${small%.h5}.poni --error-model poisson -o want.h5 --quiet || exit 1
$helper grow g.h5 $small 100 &
writer=$!
await test -e g.h5 || exit 9
# silence ends a series of unknown length: longer than a busy machine may stand still
$airy integrate g.h5 --poni ${small%.h5}.poni --error-model poisson -o unknown.h5 --follow --follow-timeout 8 --poll 0.05 --quiet &
reader=$!
$airy integrate g.h5 --poni ${small%.h5}.poni --error-model poisson -o known.h5 --follow --frames 0:8 --poll 0.05 --quiet || exit 2
wait $writer || exit 3
$airy diff want.h5 known.h5 >/dev/null || exit 4
wait $reader || exit 5
$helper rows want.h5 unknown.h5 0 8 || exit 6
$airy merge unknown.h5 -o merged.h5 --quiet || exit 7
$airy integrate $small --config unknown.h5 -o again.h5 --quiet && $airy diff want.h5 again.h5 >/dev/null || exit 8

# Every case is made, measured and gone afterwards.
TMPDIR=$PWD
export TMPDIR
$airy bench decode --case all --frames 2 --batch 1 --seconds 0.01 --quiet >rows || exit 1
for name in 4M 4M-u16 16M sparse incompressible; do
    [ "$(grep -c "\"case\": \"$name\"," rows)" = 2 ] || exit 2
done
for key in value limit ratio calls host_peak_bytes device_peak_bytes stolen; do
    grep -q "\"$key\": [0-9]" rows || exit 3
done
rm rows
[ -z "$(ls)" ]

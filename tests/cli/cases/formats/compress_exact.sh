$airy decompress $small plain.h5 --quiet && $airy compress plain.h5 again.h5 --quiet && $airy compress plain.h5 lz4.h5 --filter lz4 --quiet || exit 1
$airy compress plain.h5 blocks.h5 --block 4096 --quiet || exit 2
for file in plain again lz4 blocks; do
    $airy diff $small $file.h5 >/dev/null || exit 3
    $airy integrate $file.h5 -o $file.result.h5 --quiet || exit 4
    $airy diff plain.result.h5 $file.result.h5 >/dev/null || exit 5
done

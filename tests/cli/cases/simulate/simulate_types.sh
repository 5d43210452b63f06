for type in uint8 uint16 uint32 int32 float32; do
    $airy simulate diffraction $type.h5 --detector pilatus_100k --frames 2 --dtype $type --gaps --quiet || exit 1
    $airy integrate $type.h5 -o $type.result.h5 --bins 100 --quiet || exit 2
    $airy diff uint8.result.h5 $type.result.h5 --dataset /entry/integrate/result/intensity --rtol 1e-6 >/dev/null || exit 3
done
$airy simulate diffraction noise.h5 --detector pilatus_100k --frames 2 --incompressible --json | grep -q '"ratio": 0.99' || exit 4

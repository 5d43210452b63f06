cp $small m.h5
$helper monitor m.h5 /entry/monitor 8
$airy integrate m.h5 -o a.h5 --frames 3:4 --normalization 4 --quiet && $airy integrate m.h5 -o b.h5 --monitor /entry/monitor --quiet || exit 1
$helper rows b.h5 a.h5 3 1

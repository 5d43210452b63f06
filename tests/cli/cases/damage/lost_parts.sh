# --on-error skip is for every frame that cannot be read, not only for those that do not decode
. "$cli/check.sh"
$airy simulate diffraction s.h5 --detector pilatus_100k --dtype int32 --frames 8 --spots 40 --seed 5 --write-poni s.poni --quiet || exit 1
$airy peaks s.h5 -o p.h5 --quiet && $helper lose p.h5 /entry/sparse_frames/intensity || exit 2
expect 'sparse frames whose file is missing end densify'
$airy densify p.h5 -o stop.h5 --quiet; echo $?
expect 'sparse frames whose file is missing are left out where that was asked for'
$airy densify p.h5 -o d.h5 --on-error skip --quiet; echo $?
$airy info d.h5 | head -n 1
expect 'a frame whose file is missing ends patterns as text with the way on'
$helper series run s.h5 4 8 && rm run_2.h5
$airy integrate run.h5 --poni s.poni --bins 5 --quiet -o r.dat; echo $?
expect 'the way on is one'
$airy integrate run.h5 --poni s.poni --bins 5 --quiet -o q.dat --on-error skip --frames 4:8:1; echo $?
true

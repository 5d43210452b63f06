# a word of '-' and a digit is a value; -oFILE is -o FILE; one number is one frame
$airy integrate $small --rot1 -0.1 --azimuth-range -30,60 --polarization -.5 --dummy -10 --bins 40 --frames 3 -oa.h5 --quiet || exit 1
$airy integrate $small --rot1=-0.1 --azimuth-range=-30,60 --polarization=-.5 --dummy=-10 --bins 40 --frames 3:4 -o b.h5 --quiet || exit 2
$airy diff a.h5 b.h5 >/dev/null || exit 3
! $airy integrate $small --mask -x -o c.h5 2>said && grep -q 'mask needs an argument FILE' said

grep -v Wavelength "${small%.h5}.poni" >a.poni
$airy integrate $small --poni a.poni --unit 2th_deg -o a.h5 --quiet || exit 9
$airy integrate $small --poni a.poni --wavelength 1e-10 -o b.h5 --quiet || exit 9
$airy integrate $small --poni a.poni -o c.h5

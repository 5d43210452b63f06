printf '1 5\n0 5\n' >curve.txt
$airy simulate diffraction s.h5 --curve curve.txt

# The second axis of two dimensions by name: in the file, its plot, by --config, in merged files, and what is refused.
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 2 --seed 4 --write-poni s.poni --quiet
run() { "$airy" integrate s.h5 --poni s.poni --bins 40x20 --quiet "$@"; }
run -o rad.h5 --azimuthal chi_rad --azimuth-range 10,60 || exit 1
say() { "$airy" info "$1" | sed -n 's/.* of \(40 x 20 bins over .*\), without.*/\1/p'; }
say rad.h5
$airy integrate s.h5 -o again.h5 --config rad.h5 --quiet && $airy diff rad.h5 again.h5 >/dev/null && echo same
run -o deg.h5 --azimuth-range 10,60
run -o gi.h5 --radial qip_nm^-1 --azimuthal qoop_nm^-1 --incidence 0.2 --azimuth-range 0.5,3 --roi 0,2,1,2 --grid 1x2 || exit 1
say gi.h5
grep -ac '0 to 2 of qip (1/nm), 1 to 2 of qoop (1/nm)' gi.h5
run -o nx.h5 --azimuthal chi_rad --format nxazint || exit 1
grep -ac radian nx.h5
run -o polar.h5 --azimuthal chigi_deg && run -o exit.h5 --radial exit_angle_horz_deg --azimuthal exit_angle_vert_deg && say polar.h5 && say exit.h5
$airy merge -o both.h5 rad.h5 again.h5 --quiet && say both.h5
$airy merge -o bad.h5 rad.h5 deg.h5
echo $?
$airy diff rad.h5 deg.h5 >/dev/null
echo $?
$airy integrate s.h5 --poni s.poni -o chi.xy --bins 30 --radial chi_rad --frames 0 --quiet && grep -c '^# chi_rad' chi.xy
$airy integrate s.h5 --poni s.poni -o d.h5 --bins 40x20 --azimuthal chi_rad --azimuth-range=-1,3 --explain | grep -o 'azimuthal .* chi_rad'
run -o d.h5 --azimuthal r_mm
run -o d.h5 --azimuthal chi
run -o d.h5 --radial chi_rad
run -o d.h5 --radial qx_nm^-1 --azimuthal qx_nm^-1
run -o d.h5 --azimuthal qy_nm^-1 --compat pyfai
run -o d.h5 --azimuthal qy_nm^-1 --chi-zero
run -o d.h5 --azimuthal qy_nm^-1 --azimuth-range 3,1
run -o d.h5 --azimuth-range 0,500
run -o d.h5 --polarization 0.9,4000
run -o d.h5 --azimuthal qy_nm^-1 --roi 0,9,1000,2000
run -o d.h5 --azimuthal qy_nm^-1 --format nxazint
$airy integrate s.h5 --poni s.poni -o d.h5 --azimuthal chi_rad
echo "left: $(ls d.h5* 2>/dev/null | wc -l)"

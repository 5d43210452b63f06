# Every unit by its name, in one and two dimensions; the list in the refusal names them all.
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 1 --seed 4 --write-poni s.poni --quiet
$airy integrate s.h5 --poni s.poni -o x.h5 --unit nosuch 2>list
echo $?
for unit in $(sed -e 's/.*there are //' -e 's/;.*//' -e 's/,//g' -e 's/ or / /' list); do
    case $unit in
    qzgi_*) sample="--incidence 0.3 --sample-orientation 7" ;;
    exit_* | chigi_* | q??gi_* | qip_* | qoop_*) sample="--incidence 0.3 --tilt 4 --sample-orientation 7" ;;
    scattering_*) sample="--sample-orientation 7" ;;
    *) sample= ;;
    esac
    $airy integrate s.h5 --poni s.poni -o one.xy --unit "$unit" --bins 20 $sample --quiet --force || exit 1
    case $unit in
    chi_* | chigi_*) two= ;;
    *) two=" and in two dimensions" ; $airy integrate s.h5 --poni s.poni -o two.h5 --unit "$unit" --bins 20x8 --quiet --force || exit 1 ;;
    esac
    echo "$unit: $(grep -vc '^#' one.xy) bins$two"
done
$airy integrate s.h5 --poni s.poni -o x.h5 --unit qip_nm^-1 --sample-orientation 9
echo $?
$airy integrate s.h5 --poni s.poni -o x.h5 --unit '?' 2>&1 | cut -c1-60
# Of the sample only what an axis depends on is taken.
$airy integrate s.h5 --poni s.poni -o x.h5 --incidence 0.3
$airy integrate s.h5 --poni s.poni -o x.h5 --unit qzgi_nm^-1 --tilt 4
$airy integrate s.h5 --poni s.poni -o x.h5 --bins 20x8 --unit r_mm --azimuthal chi_deg --sample-orientation 7
$airy integrate s.h5 --poni s.poni -o x.h5 --bins 20x8 --unit qtot_nm^-1 --azimuthal chigi_deg --tilt 4 --quiet && echo taken

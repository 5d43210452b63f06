# Every unit by its name, in one and two dimensions; the list in the refusal names them all.
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 1 --seed 4 --write-poni s.poni --quiet
$airy integrate s.h5 --poni s.poni -o x.h5 --unit q 2>list
echo $?
for unit in $(sed -e 's/.*there are //' -e 's/;.*//' -e 's/,//g' -e 's/ or / /' list); do
    $airy integrate s.h5 --poni s.poni -o one.xy --unit "$unit" --bins 20 --incidence 0.3 --tilt 4 \
        --sample-orientation 7 --quiet --force || exit 1
    case $unit in
    chi_* | chigi_*) two= ;;
    *) two=" and in two dimensions" ; $airy integrate s.h5 --poni s.poni -o two.h5 --unit "$unit" --bins 20x8 --quiet --force || exit 1 ;;
    esac
    echo "$unit: $(grep -vc '^#' one.xy) bins$two"
done
$airy integrate s.h5 --poni s.poni -o x.h5 --unit qip_nm^-1 --sample-orientation 9
echo $?
$airy integrate s.h5 --poni s.poni -o x.h5 --unit '?' 2>&1 | cut -c1-60

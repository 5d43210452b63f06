for options in '--average 2' '--monitor /x' '--layout serial' '--explain' '--carry /x'; do
    $airy integrate $small -o y.h5 --follow $options
    [ $? = 2 ] || exit 1
done
$airy integrate $small -o y.h5 --poll 1
[ $? = 2 ] || exit 2
$airy integrate $small -o y.xye --follow
[ $? = 2 ] || exit 3
$airy integrate none.h5 -o y.h5 --follow --follow-timeout 0.2 --poll 0.1
[ $? = 1 ] || exit 4
mkdir in
$airy integrate in --poni ${small%.h5}.poni -o y.h5 --follow 2>err
[ $? = 1 ] && grep -q "'in' is a folder; give its files as" err || exit 5
$airy integrate $small --poni ${small%.h5}.poni -o y.h5 --follow --frames 0:9 --follow-timeout 0.2 --poll 0.1 --quiet
[ $? = 1 ] && [ -e y.h5.partial ]

echo precious >y.h5
$airy integrate $small -o y.h5
code=$?
[ "$(cat y.h5)" = precious ] || exit 99
$airy integrate $small -o y.h5 --force --quiet || exit 98
$helper nan y.h5 || exit 97
exit $code

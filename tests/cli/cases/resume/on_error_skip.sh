cp $small bad.h5
$helper damage bad.h5 /entry/data/data 2 flip
$helper damage bad.h5 /entry/data/data 6 truncate
$airy integrate bad.h5 -o y.h5 --on-error skip 2>err
code=$?
grep -e failed -e 'left out' err >&2
$helper nan y.h5 2 6 || exit 1
# the good frames are those of the good file
$airy integrate $small -o good.h5 --quiet
for i in 0 1 3 4 5 7; do
    $airy integrate bad.h5 --frames $i:$((i + 1)) -o one$i.h5 --quiet || exit 1
    $helper rows good.h5 one$i.h5 $i 1 && $helper rows y.h5 one$i.h5 $i 1 || exit 1
done
exit $code

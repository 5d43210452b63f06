# a frame whose monitor is no factor is a bad frame: its row is NaN, the others are as without it
cp $small m.h5
$helper monitor m.h5 /entry/monitor 8
$airy integrate m.h5 -o good.h5 --monitor /entry/monitor --quiet || exit 1
for value in 0 -1 nan inf; do
    cp $small x.h5
    $helper monitor x.h5 /entry/monitor 8 2 $value
    $airy integrate x.h5 -o refused.h5 --monitor /entry/monitor --quiet
    echo "refused $?"
    $airy integrate x.h5 -o x.out.h5 --monitor /entry/monitor --on-error skip --force --quiet
    echo "skipped $?"
    $helper nan x.out.h5 2 || exit 1
    for i in 0 1 3 4 5 6 7; do
        $airy integrate m.h5 --frames $i:$((i + 1)) -o one.h5 --monitor /entry/monitor --force --quiet && $helper rows x.out.h5 one.h5 $i 1 || exit 1
    done
done
# groups are of the others; text files have no file of that frame
$airy integrate x.h5 -o x.sum.h5 --sum 8 --monitor /entry/monitor --on-error skip --quiet
echo "group $?"
$airy integrate x.h5 -o t.xy --monitor /entry/monitor --on-error skip --quiet
echo "text $?" t_*.xy
$airy integrate x.h5 -o one.dat --one-table --monitor /entry/monitor --on-error skip --quiet
echo "table $?"
grep -c 'normalization factor nan' one.dat

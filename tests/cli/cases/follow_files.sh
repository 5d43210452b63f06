# files of a pattern are taken as they are complete, in the order of their numbers
mkdir all in
for i in 1 2 3 4 5; do
    $airy simulate diffraction all/f_$i.h5 --detector pilatus_100k --frames 1 --seed $i --quiet || exit 1
done
$airy integrate 'all/f_#.h5' --poni ${small%.h5}.poni -o want.h5 --quiet || exit 2
$airy integrate 'in/f_#.h5' --poni ${small%.h5}.poni -o out.h5 --follow --follow-timeout 3 --poll 0.1 2>err &
id=$!
for i in 1 3 2 4 5; do
    head -c 50000 all/f_$i.h5 >in/f_$i.h5
    sleep 0.15
    tail -c +50001 all/f_$i.h5 >>in/f_$i.h5
    sleep 0.15
done
wait $id || { cat err >&2; exit 3; }
$helper rows want.h5 out.h5 0 5

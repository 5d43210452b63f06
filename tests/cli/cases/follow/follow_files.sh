# files of a pattern are taken as they are complete, in the order of their numbers
mkdir all
for i in 1 2 3 4 5; do
    $airy simulate diffraction all/f_$i.h5 --detector pilatus_100k --frames 1 --seed $i --quiet || exit 1
done
$airy integrate 'all/f_#.h5' --poni ${small%.h5}.poni -o want.h5 --quiet || exit 2
# A gap is waited for 5 s: an attempt in which this machine stood still for most of that is none.
for try in 1 2 3 4 5; do
    rm -rf in
    mkdir in
    $airy integrate 'in/f_#.h5' --poni ${small%.h5}.poni -o out.h5 --follow --frames 0:5 --poll 0.1 --force 2>err &
    id=$!
    late=
    for i in 1 3 2 4 5; do
        begun=$(date +%s)
        head -c 50000 all/f_$i.h5 >in/f_$i.h5
        sleep 0.15
        tail -c +50001 all/f_$i.h5 >>in/f_$i.h5
        sleep 0.15
        [ $(($(date +%s) - begun)) -lt 2 ] || late=yes
    done
    [ -z "$late" ] && break
    kill $id
    wait $id
done
[ -z "$late" ] || { echo "this machine stands still again and again" >&2; exit 77; }
wait $id || { cat err >&2; exit 3; }
$helper rows want.h5 out.h5 0 5 || exit 4
# of unknown number: what is there, until nothing new has come
$airy integrate 'in/f_#.h5' --poni ${small%.h5}.poni -o out.h5 --follow --follow-timeout 0.3 --poll 0.1 --force --quiet || exit 5
$helper rows want.h5 out.h5 0 5

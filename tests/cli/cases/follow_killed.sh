# kill -9 while a file of unknown length is followed: what was written is kept, --resume does the rest
$airy integrate $small --poni ${small%.h5}.poni -o want.h5 --quiet || exit 1
options="--poni ${small%.h5}.poni --follow --poll 0.05 --quiet"
$helper grow g.h5 $small 250 &
writer=$!
$airy integrate g.h5 $options -o out.h5 &
id=$!
tries=0
until $airy stats out.h5.partial::/entry/integrate/frame/status --json --quiet 2>/dev/null | grep -q '"count": [3-8]'; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] && kill -0 $id || exit 2
    sleep 0.05
done
kill -9 $id
wait $id 2>/dev/null
[ -e out.h5.partial ] && [ ! -e out.h5 ] || exit 3
$airy integrate g.h5 $options -o out.h5 2>err && exit 4
grep -q -e '--resume continues it' err || exit 5
$airy integrate g.h5 $options -o out.h5 --resume --follow-timeout 2 --json >resumed || exit 6
wait $writer || exit 7
grep -q '"resumed": 0' resumed && exit 8
[ ! -e out.h5.partial ] || exit 9
$helper rows want.h5 out.h5 0 8 || exit 10

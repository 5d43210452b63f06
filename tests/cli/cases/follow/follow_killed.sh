# kill -9 while a file of unknown length is followed: what was written is kept, --resume does the rest
. "$cli/await.sh"
$airy integrate $small --poni ${small%.h5}.poni -o want.h5 --quiet || exit 1
options="--poni ${small%.h5}.poni --follow --poll 0.05 --quiet"
$helper grow g.h5 $small 250 &
writer=$!
$airy integrate g.h5 $options -o out.h5 &
id=$!
await rows out.h5 3 || exit 2
kill -9 $id
wait $id 2>/dev/null
[ -e out.h5.partial ] && [ ! -e out.h5 ] || exit 3
$airy integrate g.h5 $options -o out.h5 2>err && exit 4
grep -q -e '--resume continues it' err || exit 5
# however long the writer stood still, it is not silence that ends this
wait $writer || exit 6
$airy integrate g.h5 $options -o out.h5 --resume --follow-timeout 0.5 --json >resumed || exit 7
grep -q '"resumed": 0' resumed && exit 8
[ ! -e out.h5.partial ] || exit 9
$helper rows want.h5 out.h5 0 8 || exit 10

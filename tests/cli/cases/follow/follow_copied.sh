# a file of known length that is still being copied; Ctrl-C keeps what is done
. "$cli/await.sh"
$airy integrate $small --poni ${small%.h5}.poni -o want.h5 --quiet || exit 1
# more than the mask, which lies in front of the frames, and less than all of them
half=$(($(wc -c <$small) * 4 / 5))
head -c $half $small >g.h5
$airy integrate g.h5 --poni ${small%.h5}.poni -o out.h5 --follow --frames 0:8 --poll 0.05 2>err &
id=$!
await rows out.h5 || { cat err >&2; exit 2; }
# nobody has interrupted it
$airy integrate g.h5 --poni ${small%.h5}.poni -o out.h5 2>second && exit 6
grep -q "'out.h5.partial' is being written by another process; wait" second || { cat second >&2; exit 6; }
kill -INT $id
wait $id
[ $? = 1 ] && grep -q 'cancelled after [1-7] .*frames.*--resume continues' err || { cat err >&2; exit 3; }
tail -c +$((half + 1)) $small >>g.h5
# without --follow, too: the file is complete
$airy integrate g.h5 --poni ${small%.h5}.poni -o out.h5 --frames 0:8 --resume --json --quiet >resumed || exit 4
grep -q '"resumed": 0' resumed && exit 5
$airy diff want.h5 out.h5 >/dev/null

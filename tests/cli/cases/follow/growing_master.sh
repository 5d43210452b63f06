# a master whose last data file is absent, short, or comes later; 8 frames in files of 3, 3 and 2
. "$cli/await.sh"
. "$cli/check.sh"
options="--poni ${small%.h5}.poni --quiet"
$airy integrate $small $options -o want.h5 && $airy integrate $small $options --frames 0:6 -o six.h5 || exit 1
$helper series known $small 3 8 && $helper series unknown $small 3 || exit 2
for name in known unknown; do
    expect "a whole stack of $name length is integrated"
    $airy integrate $name.h5 $options -o $name.whole.h5 && $helper rows want.h5 $name.whole.h5 0 8 || exit 3
    mv ${name}_3.h5 $name.kept || exit 3
done
# absent: a run stops at its first frame, or goes on where the master says how many there are
expect 'an absent file ends the run at its first frame'
$airy integrate known.h5 $options -o a.h5 2>err && exit 4
grep -q "frame 6\|data_000003" err && [ ! -e a.h5 ] || { cat err >&2; exit 4; }
expect 'an absent file is left out where the number of frames is known and that was asked for'
$airy integrate known.h5 $options -o s.h5 --on-error skip 2>err
[ $? = 3 ] && $helper nan s.h5 6 7 && $helper rows s.h5 six.h5 0 6 || { cat err >&2; exit 5; }
expect 'an absent file ends the run where the number of frames is not known'
$airy integrate unknown.h5 $options -o b.h5 --on-error skip 2>err && exit 6
grep -q "unknown_3.h5' is missing or cut" err && [ ! -e b.h5 ] || { cat err >&2; exit 6; }
# short: cut in its first chunk, where the index still is, and in front of it
for bytes in 4 100; do
    size=$(wc -c <known.kept)
    for name in known unknown; do
        head -c $((size * bytes / 100 - 1)) $name.kept >${name}_3.h5
        expect "a file of $name length that was cut off at $bytes percent ends the run"
        $airy integrate $name.h5 $options -o $name.$bytes.h5 2>err && exit 7
        [ ! -e $name.$bytes.h5 ] && grep -q "data_000003" err || { cat err >&2; exit 7; }
    done
    expect "a file that was cut off at $bytes percent is left out where that was asked for"
    $airy integrate known.h5 $options -o c$bytes.h5 --on-error skip 2>err
    [ $? = 3 ] && $helper rows c$bytes.h5 six.h5 0 6 || { cat err >&2; exit 8; }
    rm known_3.h5 unknown_3.h5
done
# later: what is there is taken at once; the file comes short first, and then whole
for name in known unknown; do
    expect "a stack of $name length is followed to the file that comes late"
    $airy integrate $name.h5 $options -o $name.followed.h5 --follow --follow-timeout 60 --poll 0.05 2>err &
    id=$!
    await rows $name.followed.h5 6 || { cat err >&2; exit 9; }
    head -c 1500 $name.kept >$name.part && mv $name.part ${name}_3.h5
    tail -c +1501 $name.kept >>${name}_3.h5
    if [ $name = unknown ]; then
        await rows $name.followed.h5 8 || { cat err >&2; exit 10; }
        kill -INT $id
        wait $id
        $airy integrate $name.h5 $options -o $name.followed.h5 --follow --resume --follow-timeout 0.2 --poll 0.05 || exit 11
    else
        wait $id || { cat err >&2; exit 12; }
    fi
    $helper rows want.h5 $name.followed.h5 0 8 || exit 13
done
expect 'a file that never comes ends the stack with a sentence about it'
rm unknown_3.h5
$airy integrate unknown.h5 --poni ${small%.h5}.poni -o d.h5 --follow --follow-timeout 0.2 --poll 0.05 2>err || { cat err >&2; exit 14; }
grep -q "the frames end here: .*data file 'unknown_3.h5' is missing or cut" err || { cat err >&2; exit 15; }
expect 'the frames before a file that never comes are those of the stack'
$helper rows want.h5 d.h5 0 6

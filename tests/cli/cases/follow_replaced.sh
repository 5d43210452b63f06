# a file that is another one at the end, and a disk that is full
. "$(dirname "$0")/../await.sh"
$airy simulate diffraction other.h5 --detector pilatus_300k --frames 600 --same-frame --quiet || exit 1
for timeout in 1 5 25; do # on a machine so slow that the end comes before the other file, again
    cp $small in.h5
    $airy integrate in.h5 --poni ${small%.h5}.poni -o out.h5 --follow --frames 0:9 --poll 0.05 --follow-timeout $timeout --force 2>err &
    id=$!
    await rows out.h5 8 || { cat err >&2; exit 2; }
    cp other.h5 new.h5 && mv new.h5 in.h5
    wait $id
    code=$?
    grep -o "'in.h5' is another file now, of frames of another size or type" err && break
done
grep -o 'the same command with --resume continues out.h5.partial' err
echo "exit $code"
# another one of the same size
$airy simulate diffraction other.h5 --detector pilatus_100k --frames 9 --seed 2 --quiet --force || exit 3
cp $small in.h5
$airy integrate in.h5 --poni ${small%.h5}.poni -o same.h5 --follow --frames 0:9 --poll 0.05 2>err &
id=$!
await rows same.h5 8 || { cat err >&2; exit 4; }
mv other.h5 in.h5
wait $id
code=$?
grep -o "frame 7 of 'in.h5' is another one than when it was taken" err
echo "exit $code, $(ls same*)"
# a shorter one; files that do not state how many frames they will have
$airy simulate diffraction frames.h5 --detector pilatus_100k --frames 3 --seed 2 --quiet --force || exit 5
$helper begun all.h5 $small 8 && $helper begun other.h5 frames.h5 3 || exit 5
for timeout in 1 5 25; do
    cp all.h5 in.h5
    $airy integrate in.h5 --poni ${small%.h5}.poni -o short.h5 --follow --poll 0.05 --follow-timeout $timeout --force 2>err &
    id=$!
    await rows short.h5 8 || { cat err >&2; exit 6; }
    cp other.h5 new.h5 && mv new.h5 in.h5
    wait $id
    grep -o "'in.h5' has 3 frames now, and frame 7 was taken: the file was replaced or cut off" err && break
done
# a shorter one that has the frame which the first one lacks: it is no frame of that series
$airy simulate diffraction frames.h5 --detector pilatus_100k --frames 5 --seed 2 --quiet --force || exit 7
$helper begun lacks.h5 $small 8 3 && $helper begun other.h5 frames.h5 5 || exit 7
for timeout in 1 5 25; do
    cp lacks.h5 in.h5
    $airy integrate in.h5 --poni ${small%.h5}.poni -o lacks_out.h5 --follow --poll 0.05 --follow-timeout $timeout --force 2>err &
    id=$!
    await rows lacks_out.h5 7 || { cat err >&2; exit 8; }
    cp other.h5 new.h5 && mv new.h5 in.h5
    wait $id
    code=$?
    grep -o "'in.h5' has 5 frames now, and frame 7 was taken" err && break
done
grep -o 'never came, the first is number 3' err
echo "exit $code"
(trap '' XFSZ; ulimit -f 256; $airy integrate all.h5 --poni ${small%.h5}.poni -o full.h5 --follow --follow-timeout 0.2 --poll 0.1 --quiet 2>err)
echo "exit $?"
grep -o 'File too large; when that is mended the same command with --resume continues full.h5.partial' err || cat err >&2
[ ! -e full.h5 ] || echo 'the output is there'

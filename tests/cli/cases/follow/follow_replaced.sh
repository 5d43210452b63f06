# a file that is another one at the end, and a disk that is full
. "$cli/await.sh"
. "$cli/check.sh"
# replaced OUT ROWS [OPTION...]: follow in.h5, and give its name to other.h5 as soon as OUT has so many rows; $code is the exit code
replaced() {
    out=$1
    number=$2
    shift 2
    $airy integrate in.h5 --poni ${small%.h5}.poni -o $out --follow --poll 0.05 "$@" 2>err &
    id=$!
    await rows $out $number || { echo "$out" && cat err; exit 2; } >&2
    cp other.h5 new.h5 && mv new.h5 in.h5
    wait $id
    code=$?
}
# replaces FIRST SENTENCE OUT ROWS [OPTION...]: replace FIRST and expect the sentence; again where a machine is so slow that the run
# ends before the other file comes
replaces() {
    from=$1
    sentence=$2
    shift 2
    for timeout in 1 5 25; do
        cp $from in.h5
        replaced "$@" --follow-timeout $timeout --force
        grep -o "$sentence" err && break
    done
}
expect 'a file of frames of another size ends the run'
$airy simulate diffraction other.h5 --detector pilatus_300k --frames 600 --same-frame --quiet || exit 1
replaces $small "'in.h5' is another file now, of frames of another size or type" out.h5 8 --frames 0:9
grep -o 'out.h5.partial' err
echo "exit $code"
expect 'a file of the same size with other frames ends the run'
$airy simulate diffraction other.h5 --detector pilatus_100k --frames 9 --seed 2 --quiet --force || exit 3
cp $small in.h5
replaced same.h5 8 --frames 0:9
grep -o "frame 7 of 'in.h5' is another one than when it was taken" err
echo "exit $code, $(ls same*)"
# It does not state how many frames it will have.
expect 'a shorter file ends the run'
$airy simulate diffraction frames.h5 --detector pilatus_100k --frames 3 --seed 2 --quiet --force || exit 5
$helper begun all.h5 $small 8 && $helper begun other.h5 frames.h5 3 || exit 5
replaces all.h5 "'in.h5' has 3 frames now, and frame 7 was taken: the file was replaced or cut off" short.h5 8
expect 'a shorter file does not give a frame that the first one lacks'
$airy simulate diffraction frames.h5 --detector pilatus_100k --frames 5 --seed 2 --quiet --force || exit 7
$helper begun lacks.h5 $small 8 3 && $helper begun other.h5 frames.h5 5 || exit 7
replaces lacks.h5 "'in.h5' has 5 frames now, and frame 7 was taken" lacks_out.h5 7
grep -o 'never came, the first is number 3' err
echo "exit $code"
expect 'a full disk ends the run and names the partial result'
(trap '' XFSZ; ulimit -f 256; $airy integrate all.h5 --poni ${small%.h5}.poni -o full.h5 --follow --follow-timeout 0.2 --poll 0.1 --quiet 2>err)
echo "exit $?"
grep -q 'File too large; .*full.h5.partial' err && grep -o -e '--resume continues' err || cat err >&2
expect 'a full disk leaves no output'
[ ! -e full.h5 ] || echo 'the output is there'

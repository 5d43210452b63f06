# a dataset with room for more frames than were written: those that never come are no zeros
. "$cli/check.sh"
$helper begun in.h5 $small 5 || exit 1
follow() { $airy integrate in.h5 --poni ${small%.h5}.poni -o out.h5 --follow --follow-timeout 0.5 --poll 0.1 "$@" 2>said; echo "exit $?"; }
for frames in '' '--frames 0:8'; do
    expect "frames that never come are no zeros with '$frames'"
    follow $frames
    grep -o '3 bad frames, the first: .*written' said
    [ ! -e out.h5 ] && [ -e out.h5.partial ] || exit 2
    expect "frames that never come are left out with '$frames' where that was asked for"
    follow $frames --on-error skip --resume
    sed -n 's/.*\(3 of 8 frames\).*\(the first: .*written\).*/\1, \2/p' said
    $airy info out.h5 --json | tr -d ' \n' | grep -o '"done":8,"bad":3,"bad_rows":.5,6,7.'
    expect "a result without them is complete with '$frames'"
    follow $frames --on-error skip --resume
    grep -o 'complete already, .*' said
    rm out.h5
done
expect 'the first series has a partial result'
follow
expect 'frames of another series do not follow those of the first'
$airy simulate diffraction other.h5 --detector pilatus_100k --frames 8 --seed 2 --quiet || exit 4
$helper begun in.h5 other.h5 8 || exit 4
follow --resume
grep -o "frame 4 of 'in.h5' is another one than when it was taken" said
expect 'a file that has not come as far as its rows is refused'
$airy simulate diffraction other.h5 --detector pilatus_100k --frames 3 --seed 2 --quiet --force && $helper begun in.h5 other.h5 3 || exit 5
follow --resume
grep -o "'in.h5' has no frame 4 now, which has a row" said
expect 'a file with another number of frames is another file'
cp $small in.h5
follow --resume
grep -o "which it states now: it is another file" said
expect 'frames that come late are taken'
$helper begun in.h5 $small 8 || exit 7
follow --resume
$airy integrate $small --poni ${small%.h5}.poni -o want.h5 --quiet && $helper rows want.h5 out.h5 0 8 || exit 3
expect 'chunks that are not all there end the run'
$airy simulate diffraction cut.h5 --detector pilatus_100k --frames 8 --quiet || exit 6
head -c $(($(wc -c <cut.h5) * 3 / 4)) cut.h5 >in.h5
rm -f out.h5 out.h5.partial
follow
grep -o 'lie behind the end of the file' said
grep -o -e '--resume .* when they are there' said | sed 's/ .* when/ when/'
expect 'chunks that come late are taken'
cp cut.h5 in.h5
follow --resume

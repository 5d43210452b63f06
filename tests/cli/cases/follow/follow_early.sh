# a dataset with room for more frames than were written: those that never come are no zeros
$helper begun in.h5 $small 5 || exit 1
follow() { $airy integrate in.h5 --poni ${small%.h5}.poni -o out.h5 --follow --follow-timeout 0.5 --poll 0.1 "$@" 2>said; echo "exit $?"; }
for frames in '' '--frames 0:8'; do
    follow $frames
    grep -o '3 bad frames, the first: .*written' said
    [ ! -e out.h5 ] && [ -e out.h5.partial ] || exit 2
    follow $frames --on-error skip --resume
    grep -o '3 of 8 frames failed, .*written' said
    $airy info out.h5 --json | tr -d ' \n' | grep -o '"done":8,"bad":3,"bad_rows":.5,6,7.'
    follow $frames --on-error skip --resume
    grep -o 'complete already, .*' said
    rm out.h5
done
# another series under that name: its frames are not put behind those of the first
follow
$airy simulate diffraction other.h5 --detector pilatus_100k --frames 8 --seed 2 --quiet || exit 4
$helper begun in.h5 other.h5 8 || exit 4
follow --resume
grep -o "frame 4 of 'in.h5' is another one than when it was taken" said
# one that has not come so far
$airy simulate diffraction other.h5 --detector pilatus_100k --frames 3 --seed 2 --quiet --force && $helper begun in.h5 other.h5 3 || exit 5
follow --resume
grep -o "'in.h5' has no frame 4 now, which has a row" said
# a file that says how many there should be is another one
cp $small in.h5
follow --resume
grep -o "which it says now: it is another file" said
# they come after all
$helper begun in.h5 $small 8 || exit 7
follow --resume
$airy integrate $small --poni ${small%.h5}.poni -o want.h5 --quiet && $helper rows want.h5 out.h5 0 8 || exit 3
# bytes that are not all there are told as such, and come
$airy simulate diffraction cut.h5 --detector pilatus_100k --frames 8 --quiet || exit 6
head -c $(($(wc -c <cut.h5) * 3 / 4)) cut.h5 >in.h5
rm -f out.h5 out.h5.partial
follow
grep -o 'lie behind the end of the file' said
grep -o 'with --resume goes on when they are there' said
cp cut.h5 in.h5
follow --resume

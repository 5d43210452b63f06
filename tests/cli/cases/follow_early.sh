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
# they come after all
follow
cp $small in.h5
follow --resume
$airy integrate $small --poni ${small%.h5}.poni -o want.h5 --quiet && $helper rows want.h5 out.h5 0 8 || exit 3

# bad pixels are background, by a mask of the shape, of a plane or of all but the first axis, and by their value
. "$cli/check.sh"
npy() { # DTYPE SHAPE; bytes follow
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': ($2)}"
}
row() { printf "$(echo " $*" | sed 's/ 8/\\010/g; s/ 9/\\011/g; s/ \([0-7]\)/\\00\1/g')"; }
{ npy '|u1' '2, 2, 1, 7'; row 3 1 4 0 4 5 9; row 2 6 5 3 0 8 9; row 7 9 0 9 3 2 3; row 8 4 6 2 6 4 3; } >four.npy
{ npy '|u1' '4, 1, 7'; row 3 1 4 0 4 5 9; row 2 6 5 3 0 8 9; row 7 9 0 9 3 2 3; row 8 4 6 2 6 4 3; } >three.npy
{ npy '|u1' '1, 7'; row 0 1 0 0 0 1 0; } >plane.npy
{ npy '|u1' '2, 1, 7'; row 0 1 0 0 0 1 0; row 0 0 0 1 0 0 0; } >pair.npy
{ npy '|u1' '2, 2, 1, 7'; row 0 1 0 0 0 1 0; row 0 0 0 1 0 0 0; row 0 1 0 0 0 1 0; row 0 0 0 1 0 0 0; } >all.npy
# what labels are of is the image where bad pixels are 0
{ npy '|u1' '4, 1, 7'; row 3 0 4 0 4 0 9; row 2 0 5 3 0 0 9; row 7 0 0 9 3 0 3; row 8 0 6 2 6 0 3; } >zeros.npy
for T in '' --above=3 --above=-1; do
    for each in '' --each; do
        expect "a mask of a plane makes background, with '$T $each'"
        $airy label three.npy --mask plane.npy $T $each -o m.npy --table m.csv --force --quiet >m || exit 1
        tr -d ' \n' <m
        echo
        [ "$T" = --above=-1 ] && continue
        expect "labels are those of an image with zeros, with '$T $each'"
        $airy label zeros.npy $T $each -o z.npy --table z.csv --force --quiet | cmp m - && cmp m.npy z.npy && cmp m.csv z.csv || exit 2
    done
    expect "a mask of two planes makes background, with '$T'"
    $airy label four.npy --each --mask pair.npy $T -o p.npy --table p.csv --force --quiet | tr -d ' \n'
    echo
    expect "a mask of all planes makes the same background, with '$T'"
    $airy label four.npy --each --mask all.npy $T -o a.npy --table a.csv --force --quiet >/dev/null && cmp a.npy p.npy && cmp a.csv p.csv || exit 3
done
expect 'a value and what is near it make background'
$airy label three.npy --each --dummy 4 --delta-dummy 1 --quiet | tr -d ' \n'
echo
# of --sigma, too: the spread is that of good pixels
{ npy '|u1' '1, 8'; row 1 2 1 2 1 2 1 9; } >spread.npy
{ npy '|u1' '1, 8'; row 0 0 0 0 0 0 0 1; } >last.npy
expect 'the spread for a threshold is that of good pixels'
$airy label spread.npy --sigma 3 --mask last.npy --quiet | tr -d ' \n'
echo
# NaN is background, with a threshold or without
{ npy '<f4' '1, 3'; printf '\0\0\300\177\0\0\0\0\0\0\200\077'; } >nan.npy
expect 'NaN is background'
$airy label nan.npy | tr -d ' \n'
$airy label nan.npy --above 0 2>&1 | tr -d ' \n'
$airy label nan.npy --dummy 1 | tr -d ' \n'
echo
expect 'bad pixels beside NaN are background'
# bad pixels beside it
{ npy '|u1' '1, 3'; row 0 1 0; } >other.npy
{ npy '|u1' '1, 3'; row 1 0 0; } >that.npy
for bad in '--mask other.npy' '--mask that.npy' '--dummy nan'; do $airy label nan.npy $bad | tr -d ' \n'; done
echo
expect 'what the file marks as bad has a warning'
$airy simulate diffraction gaps.h5 --detector pilatus_300k --frames 1 --gaps --quiet || exit 4
for command in label clip stats; do $airy $command gaps.h5 >/dev/null; done
expect 'a tolerance needs a dummy value'
$airy label three.npy --delta-dummy 1
echo $?
expect 'a mask has the shape of its image'
$airy label three.npy --mask nan.npy
echo $?

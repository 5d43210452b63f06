# planes of a stack one run after another: the same labels, measures and numbers as of all in memory, and --frames takes some
. "$cli/check.sh"
npy() { # SHAPE; bytes follow
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': ($1)}"
}
for i in 0 1 2 3 4 5 6; do $airy simulate sky f_$i.npy --height 16 --width 20 --sources 3 --seed $i --quiet || exit 1; done
$airy convert 'f_*.npy' -o cube.npy --quiet || exit 1
{ npy '7, 16, 20' '|u1' && head -c 1120 /dev/zero && head -c 1120 /dev/zero | tr '\0' '\1'; } >mask.npy
tidy() { tr -d ' \n' <$1; echo; }
for bad in '' '--mask mask.npy' '--dummy 0'; do
    for by in '--above 0.4' '--sigma 4'; do
        label="$airy label --each --quiet --force --min-area 2 $bad $by"
        what="by $by and ${bad:-no mask}"
        expect "a stack that is read in parts has the labels of the whole $what"
        $label cube.npy --table whole.csv -o whole.npy >whole || exit 2
        $label 'f_*.npy' --table t.csv --memory-limit 8000 >s && cmp s whole && cmp t.csv whole.csv || exit 3 # some runs
        expect "every second frame has its own labels $what"
        $label cube.npy --frames 1:7:2 --table t.csv -o l.npy >s || exit 4
        sed -n '1p; /^[135],/p' whole.csv | cmp - t.csv || exit 5
        for i in 0 1 2; do
            tail -c +$((129 + 1280 * (2 * i + 1))) whole.npy | head -c 1280 >a; tail -c +$((129 + 1280 * i)) l.npy | head -c 1280 | cmp - a || exit 6
        done
        expect "one frame has the labels of an image $what"
        $airy label cube.npy --frames 3 --quiet --force --min-area 2 $bad $by --connectivity 8 --table one.csv -o one.npy >one || exit 7
        case $bad in --mask*) continue ;; esac
        $airy label f_3.npy --quiet --force --min-area 2 $bad $by --connectivity 8 --table two.csv -o two.npy >two || exit 8
        cmp one two && cmp one.csv two.csv && cmp one.npy two.npy || exit 9
    done
done
expect 'several frames are a volume'
$airy convert cube.npy --frames 2:5 -o part.npy --quiet
$airy label part.npy --above 0.4 --connectivity 26 --table two.csv -o two.npy --force --quiet >two || exit 10
$airy label cube.npy --frames 2:5 --above 0.4 --connectivity 26 --table one.csv -o one.npy --force --quiet | cmp - two && cmp one.csv two.csv && cmp one.npy two.npy || exit 11
# a stack may have been meant where neither neighbours nor one plane are asked for
for options in '' '--frames 2:5' '--frames 2' '--connectivity 6' --each; do
    expect "labels of a volume have a warning where planes may be meant, with '$options'"
    $airy label cube.npy --above 0.4 $options >s
done
expect 'a plane without a threshold has its number in the file'
{ npy '3, 2, 4' '<f4' && head -c 96 /dev/zero; } >flat.npy
$airy label flat.npy --each --sigma 3 --frames 1: >s
expect 'values in gaps have one warning'
{ npy '2, 2, 2' '<u4' && printf '\377\377\377\377\0\0\0\0\0\0\0\0\0\0\0\0\377\377\377\377\0\0\0\0\0\0\0\0\0\0\0\0'; } >gaps.npy
$airy label gaps.npy --each --above 1 | tr -d ' \n'; echo
for frames in 7 3:9 x; do
    expect "there are no frames $frames"
    $airy label cube.npy --each --frames $frames --above 1 -o no.npy
    echo $?
done
expect 'nothing is written'
[ ! -e no.npy ] || exit 12
# 2 TB of zeros, where the file system has such files
npy '500000, 1000, 1000' '<f4' >s.npy
truncate -s 2000000000128 s.npy 2>said || { cat said >&2; exit 77; }
expect 'a mask of another shape is refused before 2 TB are read'
$airy label s.npy --each --above 1 --frames 1:500000:250000 --mask mask.npy --quiet
expect 'two frames of 2 TB are labelled'
$airy label s.npy --each --above 1 --frames 1:500000:250000 --table z.csv -o z.npy --quiet | tr -d ' \n'
echo

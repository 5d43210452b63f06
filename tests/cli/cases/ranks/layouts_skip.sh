# bad chunks under --on-error skip: exit code 3 and one message; without it one line, and --resume
set -- $small $small
cp $small bad.h5
$helper damage bad.h5 /entry/data/data 2 flip
$helper damage bad.h5 /entry/data/data 6 truncate
$airy integrate "$@" bad.h5 --on-error skip -o a.h5 --quiet 2>/dev/null
[ $? = 3 ] || exit 1
for how in serial "threads --threads 1 --batch 2" "threads --threads 3 --batch 2"; do
    $airy integrate "$@" bad.h5 --on-error skip --layout $how -o b.h5 --force 2>said
    [ $? = 3 ] && grep -q '2 of 24 frames are left out; the first: .*bad.h5.*frame ' said || { cat said >&2; exit 2; }
    $helper nan b.h5 18 22 || exit 3
    $helper rows a.h5 b.h5 0 24 || exit 4
done
$airy integrate "$@" bad.h5 --layout threads --threads 2 -o c.h5 2>said
[ $? = 1 ] && [ "$(wc -l <said)" = 1 ] && grep -q '^airy integrate: .*bad.h5.*--on-error skip' said || { cat said >&2; exit 5; }
[ -e c.h5 ] && exit 6
$airy integrate "$@" bad.h5 --layout serial --on-error skip --resume -o c.h5 --quiet
[ $? = 3 ] && $helper rows a.h5 c.h5 0 24
# with many of them the first is that of the lowest row, whoever met which when
for k in 1 2 3 4 5 6 7 8; do cp bad.h5 b$k.h5; done
set -- $small b1.h5 b2.h5 b3.h5 b4.h5 b5.h5 b6.h5 b7.h5 b8.h5
for how in serial "threads --threads 2 --batch 1" "threads --threads 4 --batch 1"; do
    $airy integrate "$@" --layout $how --on-error skip -o b.h5 --force 2>said
    [ $? = 3 ] && grep -q '16 of 72 frames are left out; the first: .*b1.h5.* frame 2' said || { cat said >&2; exit 7; }
    rm -f d.h5.partial
    $airy integrate "$@" --layout $how -o d.h5 2>said
    [ $? = 1 ] && grep -q '^airy integrate: .*b1.h5.* frame 2' said || { cat said >&2; exit 8; }
done

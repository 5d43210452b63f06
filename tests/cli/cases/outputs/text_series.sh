# files of a series are written by several threads; each is the same however many there are
. "$cli/check.sh"
many="--batch 1 --threads 16 --bins 100"
$airy integrate $small --bins 100 --layout serial -o serial.dat --quiet || exit 1
$airy integrate $small $many -o many.dat --quiet || exit 2
for i in 0 1 2 3 4 5 6 7; do
    grep -v '^#' serial_00000$i.dat >a
    grep -v '^#' many_00000$i.dat >b
    [ -s a ] && cmp a b || exit 3
done
$airy integrate $small --bins 100 --one-table -o one.dat --quiet --batch 3 --sum 2 || exit 4
[ "$(grep -v '^#' one.dat | head -n 1 | wc -w)" = 5 ] || exit 5
rm many_* serial_*
# a damaged frame ends the series, and no file behind it is left that would be in a next run's way
cp $small bad.h5 && $helper damage bad.h5 /entry/data/data 3 flip || exit 6
$airy integrate bad.h5 $many -o n.dat 2>err && exit 7
grep -o -e '--on-error.*' err | tr = ' '
ls n_*
$airy integrate bad.h5 $many --on-error skip --frames 3:8:1 -o n.dat 2>err
echo "exit code $?"
grep -c '1 of 5 frames is left out; the first: frame 3' err
ls n_*
# a file that is there is refused before any is written, and an input is never replaced
rm n_* && : >n_000005.dat
$airy integrate $small $many -o n.dat 2>err && exit 8
grep -c "'n_000005.dat' is there already; --force overwrites it" err
ls n_*
# with --force what is written stays, and is whole
$airy integrate bad.h5 $many --force -o n.dat --quiet 2>err && exit 9
for f in n_*.dat; do
    [ "$(grep -vc '^#' $f)" = 100 ] || [ ! -s $f ] || exit 10
done
# batches are those of an HDF5 output
$airy integrate $small --batch 2 --verbose -o q.dat 2>&1 | grep -c ' batch 2,'
# figures of the run are printed
$airy integrate $small -o p.dat --profile --quiet >profile 2>&1 && grep -q integrate profile || exit 12
# so is the limit of memory
$airy integrate $small -o r.dat --memory-limit 100k --quiet 2>said && exit 13
grep -q -- '--memory-limit' said && ! ls r_*.dat >/dev/null 2>&1 || { cat said; exit 14; } >&2

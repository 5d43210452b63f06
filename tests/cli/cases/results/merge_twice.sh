# rows of the same frame of the same input are a warning: its pixels count twice
run() { $airy integrate "$@" --poni ${small%.h5}.poni --bins 40 --quiet; }
cp $small copy.h5
run $small --frames 0:4 -o a.h5 && run copy.h5 --frames 3:8 -o b.h5 && run $small --frames 4:8 -o c.h5 || exit 3
run $small --average 3 --frames 0:6 -o g.h5 && run $small --frames 5 -o one.h5 && run $small --frames 6 -o six.h5 || exit 3
run 'c*y.h5' -o d.h5 || exit 3 # a pattern
$airy merge a.h5 b.h5 -o rows.h5 --quiet || exit 3
merge() {
    $airy merge "$@" --sum -o out.h5 --force 2>&1 >/dev/null | grep -v ' as 1 of '
    echo
}
merge a.h5 a.h5
merge a.h5 b.h5
merge a.h5 c.h5
merge g.h5 one.h5
merge g.h5 six.h5
merge rows.h5 rows.h5
merge d.h5 d.h5

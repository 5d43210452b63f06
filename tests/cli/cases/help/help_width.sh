# help is as wide as COLUMNS says, from 60 to 100
widest() { awk '/^Examples/ { exit } !/^usage|^  airy/ { if (length($0) > n) n = length($0) } END { print n }'; }
for columns in 10 60 80 200 none; do
    n=$(COLUMNS=$columns $airy reduce --help </dev/null | widest)
    case $columns in 10 | 60) most=60 ;; 80) most=80 ;; *) most=100 ;; esac
    [ "$n" -le $most ] && [ "$n" -gt $((most - 12)) ] || { echo "COLUMNS=$columns: $n columns" >&2; exit 1; }
done
# '-' is a name that says what to do instead
$airy stats - </dev/null
[ $? = 2 ] || exit 2
$airy convert $small -o -
[ $? = 2 ] || exit 3
$airy simulate sky sky.fits --quiet && $airy sky sky.fits --pixels - </dev/null
[ $? = 2 ] || exit 4
printf 'x,y\n3,4\n' | $airy sky sky.fits --pixels /dev/stdin >/dev/null || exit 5
printf x >./- && $airy stats ./- 2>&1 | grep -q 'no known format' || exit 6

script -qec true typed </dev/null >/dev/null 2>&1 || { echo "no script, or no terminal for it" >&2; exit 77; }
# a terminal that is smaller than the view, down to two rows: what does not fit is left out, nothing scrolls
cp $small a.h5
$helper damage a.h5 /entry/data/data 2 flip
$airy integrate a.h5 --batch 1 --threads 1 --bins 40 -o p.h5 --quiet 2>/dev/null
for rows in 24 8 6 3 2; do
    script -qec "stty rows $rows cols 70; $airy watch p.h5 --count 3 --interval 0.05" typed </dev/null >seen || exit 1
    echo "$rows: $(grep -o "$(printf '\033')\[[0-9]*A" seen | tr -d '\033' | uniq | tr '\n' ' ')"
done
# names, and what is said of files, are no orders to a terminal
name=$(printf 'x\033[31m\302\233y').h5
cp a.h5 "$name.partial"
script -qec "$airy watch '$name' --count 1" typed </dev/null >seen
grep -c 'x?\[31m??y.h5.partial: unreadable' seen
grep -c "$(printf '\033')\[31m" seen
$airy info "$name" 2>said
grep -c "$(printf '\033')" said
exit 0

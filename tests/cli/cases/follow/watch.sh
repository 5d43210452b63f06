# a finished result: one line, the numbers of the newest frame
. "$cli/await.sh"
. "$cli/check.sh"
$airy integrate $small --bins 40 -o r.h5 --quiet || exit 1
expect 'a finished result is one line'
$airy watch r.h5 >line && wc -l <line | tr -d ' '
expect 'the line has the numbers of the newest frame'
sed 's/"total.*//' line
# one that is being written: its own name or the final one; a stopped writer is told from a running one
cp $small a.h5
$helper damage a.h5 /entry/data/data 2 flip
$airy integrate a.h5 --batch 1 --threads 1 --bins 40 -o p.h5 --quiet 2>/dev/null
[ -e p.h5.partial ] || exit 2
cp p.h5.partial before
for name in p.h5 p.h5.partial; do
    expect "a stopped writer is reported by the name $name"
    $airy watch $name --count 2 --interval 0.05 | sed 's/"frames_per.*//'
done
expect 'the partial result is untouched'
cmp p.h5.partial before || exit 3
expect 'a result that is not there is waited for'
$airy watch none.h5 --count 1 2>said
[ $? = 1 ] && cat said
expect 'a file that is no result is unreadable'
$airy watch $small --count 1 >line 2>said
[ $? = 1 ] && grep -c '"state":"unreadable"' line
head -c 3000 p.h5.partial >cut.h5
expect 'a file that was cut off is unreadable'
$airy watch cut.h5 --count 1 >line 2>/dev/null
[ $? = 1 ] && grep -c '"state":"unreadable"' line
# waiting for it to become one would take for ever
expect 'a file that is no result ends watch'
timeout 120 $airy watch $small --interval 0.05 >line 2>said
[ $? = 1 ] && wc -l <line | tr -d ' '
grep -o 'holds frames' said
# nor does one that nobody writes under the name of a partial one, whichever name is given
cp $small n.h5.partial
echo some text >t.h5.partial
for name in n.h5 n.h5.partial t.h5; do
    expect "a partial file that nobody writes ends watch by the name $name"
    timeout 120 $airy watch $name --interval 0.05 >line 2>said
    [ $? = 1 ] && wc -l <line | tr -d ' '
    sed 's/.*: //' said
done
# it comes, vanishes, comes again as another, and gets its name
last_says() { tail -n 1 lines | grep -q "$1"; }
reaches() { # the last line says so
    await last_says "\"state\":\"$1\"$2" || echo "never $1"
}
expect 'a result comes, vanishes, comes again as another, and gets its name'
$airy watch w.h5 --interval 0.05 >lines &
reaches waiting
cp p.h5.partial part && mv part w.h5.partial && reaches stopped
rm w.h5.partial && reaches gone
cp p.h5.partial part && mv part w.h5.partial && reaches stopped
head -c 100 p.h5.partial >part && mv part w.h5.partial && reaches unreadable
cp r.h5 part && mv part w.h5.partial && reaches stopped '.*"done":8,'
mv w.h5.partial w.h5
wait $! || exit 4
sed 's/.*"state":"\([a-z]*\)".*/\1/' lines | uniq | tr '\n' ' '
echo
expect 'a picture is a PNG'
$airy watch r.h5 --png r.jpg
[ $? = 2 ] || exit 5

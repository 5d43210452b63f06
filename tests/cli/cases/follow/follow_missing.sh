# a number that has no file is said, and which; rows are those of the files that came
mkdir in
for i in 01 02 04 05 08 09; do
    $airy simulate diffraction in/f_$i.h5 --detector pilatus_100k --frames 1 --seed $i --quiet || exit 1
done
$airy integrate 'in/f_##.h5' --poni ${small%.h5}.poni -o want.h5 --quiet 2>/dev/null || exit 2
$airy integrate 'in/f_##.h5' --poni ${small%.h5}.poni -o out.h5 --follow --follow-timeout 3 --poll 0.1 --json >json 2>said
echo "exit $?"
sed -n 's/^ *"\(frames\|bad\|lost\|decoded_bytes\)": *\([0-9]*\),*$/\1 \2/p' json
awk '/"frames_per_second"/ { rate = $2 + 0 } /"seconds"/ { seconds = $2 + 0 } END { printf "%.2f in all seconds\n", rate * seconds }' json
grep -o 'in/f_.* come: .*' said
$helper rows want.h5 out.h5 0 6 || exit 3
# every third number is no gap
mkdir third
mv in/f_01.h5 third/f_3.h5 && mv in/f_02.h5 third/f_6.h5 && mv in/f_04.h5 third/f_9.h5
$airy integrate 'third/f_#.h5' --poni ${small%.h5}.poni -o third.h5 --follow --follow-timeout 1 --poll 0.1 --quiet 2>/dev/null
echo "exit $?"
# gone on with: a file that has come since would move the rows that are written
$airy integrate 'in/f_##.h5' --poni ${small%.h5}.poni -o more.h5 --follow --poll 0.1 --quiet 2>/dev/null &
id=$!
. "$cli/await.sh"
await rows more.h5 3 && await catches $id && kill -INT $id
wait $id
$airy integrate 'in/f_##.h5' --poni ${small%.h5}.poni -o more.h5 --resume 2>&1 | grep -o 'give --follow also now'
cp in/f_05.h5 in/f_06.h5
$airy integrate 'in/f_##.h5' --poni ${small%.h5}.poni -o more.h5 --follow --poll 0.1 --follow-timeout 1 --resume 2>&1 | grep -o 'in/f_06.h5 came or changed after row 1 was written'
rm in/f_06.h5
$airy integrate 'in/f_##.h5' --poni ${small%.h5}.poni -o more.h5 --follow --poll 0.1 --follow-timeout 1 --resume --quiet 2>/dev/null
echo "exit $?"
# begun without --follow
cp $small a.h5
$helper damage a.h5 /entry/data/data 2 flip
$airy integrate a.h5 --batch 1 --threads 1 -o p.h5 --quiet 2>/dev/null
$airy integrate 'a.h[5]' -o p.h5 --resume --follow --quiet 2>&1 | grep -o 'leave --follow out'
# a file that cannot be read yet is tried again and again: gaps among the others are not said at each look
mkdir wait && head -c 1000 third/f_3.h5 >wait/f_1.h5 && cp third/f_3.h5 wait/f_3.h5
$airy integrate 'wait/f_#.h5' --poni ${small%.h5}.poni -o wait.h5 --follow --follow-timeout 0.5 --poll 0.05 2>said
echo "exit $?, $(grep -c 'have no file' said) gaps"
# numbers that no counter holds are names without one: they leave no gap
mkdir large && cp third/f_3.h5 large/f_0.h5 && cp third/f_6.h5 large/f_1.h5 && cp third/f_9.h5 large/f_18446744073709551615.h5 &&
    cp third/f_9.h5 large/f_99999999999999999999999.h5
$airy integrate 'large/f_#.h5' --poni ${small%.h5}.poni -o large.h5 --follow --follow-timeout 0.5 --poll 0.05 --json 2>said | grep -o '"frames": 4'
echo "$(grep -c 'not come' said) gaps"

$airy simulate diracs a.npy --size 8 --step 8 --quiet && $airy simulate diracs b.npy --size 8 --step 3 --quiet || exit 1
echo text >c.h5
for pair in "a.npy a.npy" "a.npy b.npy" "a.npy missing.npy" "c.h5 a.npy" "$small $small --dataset /entry/none"; do
    $airy diff $pair >out 2>err
    echo $?
done
$airy diff $small $small --dataset $(printf "a%.0s" $(seq 4400)) 2>&1 >out | grep -c "a name of [0-9]* bytes, expected at most 4399"

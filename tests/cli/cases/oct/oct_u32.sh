# headerless samples of 32 bits are read as what they are: the same profile as those of 16 bits
$airy simulate oct a.raw --samples 256 --lines 4 --dtype u16 --write-plan a.json --quiet || exit 2
# each sample with two bytes 0 behind it
od -An -v -tx2 -w2 a.raw | sed 's/ *\(..\)\(..\)/\\x\2\\x\1\\x00\\x00/' | tr -d '\n' >hex
env printf "$(cat hex)" >b.raw
sed 's/"u16"/"u32"/' a.json >b.json
grep -q '"u32"' b.json && [ "$(stat -c %s b.raw)" = $((2 * $(stat -c %s a.raw))) ] || exit 3
$airy oct a.raw --plan a.json -o a.npy --quiet && $airy oct b.raw --plan b.json -o b.npy --quiet && cmp a.npy b.npy
$airy oct - --plan b.json -o c.npy --quiet <b.raw && cmp a.npy c.npy

# what was chosen and why
$helper image mask.h5 195 487 0 || exit 1
$airy integrate $small --mask mask.h5 --verbose -o y.h5 2>said || exit 2
for word in 'chosen by: AIRY_DEVICE' 'devices: cpu (' 'stack: .*8 frames, .*bitshuffle-lz4' 'reading: chunk by chunk' 'geometry: .*from file' \
    'masked pixels: detector 0, file 0, given 0' 'dummy values: the three largest' 'engine: ' 'matrix: ' 'run: 8 frames, .*batch ' 'set-up'; do
    grep -q "$word" said || { echo "$word"; exit 3; }
done
$airy integrate $small --frames 3 -o z.h5 2>said && grep -q 'z.h5: 1 frame in ' said

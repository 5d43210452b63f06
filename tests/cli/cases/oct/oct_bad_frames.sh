# results of frames that cannot be read are NaN, or 0, with exit code 3; the others are as without them
cat >plan.json <<END
{"samples": 2048, "lines": 8, "dtype": "u16", "background": "mean", "window": {"kind": "hann"},
 "axis": {"wavelength_poly": [1187.2, 252.9, 13.5, -25.5, 4.6], "unit": "nm"}}
END
sed 's/"lines": 8,/"lines": 8, "average_frames": 2,/' plan.json >mean.json
sed 's/"lines": 8,/"lines": 8, "fixed_pattern": 3,/' plan.json >learns.json
$airy simulate oct m.h5 --lines 8 --frames 7 --reflectors 800:-20:10 --quiet && $airy compress m.h5 bad.h5 --quiet || exit 1
$airy oct bad.h5 --plan plan.json -o good.npy --quiet >/dev/null && $airy oct bad.h5 --plan mean.json -o mean.npy --quiet >/dev/null
$helper damage bad.h5 /entry/data/data 2 flip
$helper damage bad.h5 /entry/data/data 5 truncate
$airy oct bad.h5 --plan plan.json -o stop.npy >/dev/null
echo "stop: $?"
for batch in 1 4 7; do
    $airy oct bad.h5 --plan plan.json -o b$batch.npy --on-error skip --batch $batch --quiet >/dev/null
    echo "skip, $batch at a time: $?"
    $airy diff good.npy b$batch.npy
done
$airy stats b4.npy --json --quiet | grep '"count"'
# of two frames that are one result
$airy oct bad.h5 --plan mean.json -o m.npy --on-error skip >/dev/null
echo "means: $?"
$airy diff mean.npy m.npy
# what the plan learns from must be good; a camera has no file
$airy oct bad.h5 --plan learns.json -o l.npy --on-error skip >/dev/null
echo "learns: $?"
$airy oct m.h5 --plan plan.json --line-rate 1000 --on-error skip
echo "camera: $?"
ls | grep -c partial
true

# peaks and oct run as other commands on stacks do: frames, damaged ones, a limit of memory, a profile, Ctrl-C
. "$cli/check.sh"
. "$cli/await.sh"
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 12 --spots 20 --seed 7 --quiet || exit 1
cp s.h5 bad.h5
$helper damage bad.h5 /entry/data/data 2 flip
$helper damage bad.h5 /entry/data/data 6 truncate
expect 'a damaged frame ends a run, and the frames before it are kept'
$airy peaks bad.h5 -o p.h5 --quiet; echo $?
[ -e p.h5 ] || echo none
$airy info p.h5.partial | grep done
expect 'damaged frames have empty rows and messages where that was asked for'
$airy peaks bad.h5 -o p.h5 --on-error skip --resume --verbose 2>&1 | grep -o -e 'frame [0-9] was left out' -e '[0-9]* of [0-9]* frames are left out; the first'
$airy peaks bad.h5 -o p.h5 --on-error skip --force --quiet; echo $?
expect 'a range of frames has the rows of these frames'
$airy peaks s.h5 -o range.h5 --frames 1:10:3 --json --quiet | grep '"frames"'
expect 'a limit of memory makes batches smaller, and one that is too small is named'
$airy peaks s.h5 -o limit.h5 --memory-limit 48M --quiet; echo $?
$airy peaks s.h5 -o all.h5 --quiet && $airy densify all.h5 -o all_again.h5 --quiet && $airy densify limit.h5 -o limit_again.h5 --quiet &&
    $airy diff all_again.h5 limit_again.h5 --quiet >/dev/null && echo same
$airy peaks s.h5 -o none.h5 --memory-limit 1M --quiet 2>said; echo $?
grep -c -- '--memory-limit' said
[ -e none.h5 ] || echo none
expect 'a profile has what a run does'
$airy peaks s.h5 -o p.h5 --force --quiet --profile=p.json && grep -o '"peaks_[a-z]*"' p.json | sort -u | head -3 | wc -l
expect 'Ctrl-C ends a run, and no file is under its name'
$airy peaks s.h5 s.h5 s.h5 s.h5 s.h5 s.h5 s.h5 s.h5 -o out.h5 --batch 1 --threads 1 2>err &
id=$!
await catches $id && kill -INT $id
wait $id; code=$?
[ $code = 1 ] && grep -q 'cancelled after' err && [ ! -e out.h5 ] && echo stopped || { [ $code = 0 ] && echo stopped; }
cat >plan.json <<END
{"samples": 512, "lines": 64, "dtype": "u16", "background": "mean", "window": "hann",
 "axis": {"wavelength_poly": [1187.2, 1011.6, 54], "unit": "nm"}}
END
$airy simulate oct m.h5 --lines 64 --frames 9 --samples 512 --reflectors 300:-20:10 --quiet || exit 2
expect 'a limit of memory makes batches of OCT smaller'
$airy oct m.h5 --plan plan.json -o a.npy --quiet >/dev/null && $airy oct m.h5 --plan plan.json -o b.npy --memory-limit 1M --json --quiet | grep batch_frames
$airy diff a.npy b.npy --quiet >/dev/null && echo same
expect 'a profile of OCT has its loops'
$airy oct m.h5 --plan plan.json -o c.npy --quiet --profile=o.json >/dev/null && grep -c '"oct' o.json

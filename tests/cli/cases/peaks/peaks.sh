# what stands out of the rings of a simulated stack, and frames again: sizes, numbers, the same file from any batches and threads
$airy simulate diffraction s.h5 --detector pilatus_100k --dtype int32 --frames 12 --spots 40 --seed 5 --quiet
$airy peaks s.h5 -o p.h5 --json >p.json 2>/dev/null || exit 1
grep -oE '"(frames|bad)": [0-9]+' p.json
grep -oE '"(output|device)": "[a-z0-9.]*"' p.json
$airy peaks s.h5 -o q.h5 --batch 5 --threads 1 --quiet
for d in sparse_frames/frame_ptr sparse_frames/index sparse_frames/intensity sparse_frames/background_avg sparse_frames/background_std peaks/nPeaks \
    peaks/peakXPosRaw peaks/peakYPosRaw peaks/peakTotalIntensity peaks/peakSNR; do
    $airy diff p.h5 q.h5 --dataset /entry/$d >/dev/null || echo "$d differs"
done
$airy densify p.h5 -o d.h5 --quiet && $airy densify p.h5 -o n.h5 --noise poisson --seed 3 --quiet && $airy densify p.h5 -o m.h5 --noise poisson --seed 3 --quiet
$airy diff n.h5 m.h5 >/dev/null && echo same seed
$airy diff d.h5 n.h5 >/dev/null || echo noise
# as many counts as the stack has, but for what is drawn and for what stands out a little
$airy integrate s.h5 -o s_patterns.h5 --quiet && $airy integrate n.h5 -o n_patterns.h5 --quiet
$airy diff s_patterns.h5 n_patterns.h5 --dataset /entry/integrate/frame/total --rtol 0.02 >/dev/null && echo counts
$airy densify p.h5 -o one.h5 --frames 3 --noise gaussian --quiet && $airy stats one.h5 --json | grep '"count"'
$airy densify p.h5 -o far.h5 --frames 2:8:18446744073709551615 --quiet && $airy stats far.h5 --json | grep '"count"'
$airy peaks s.h5 -o few.h5 --frames 2:8:3 --no-clip --split full --error-model azimuthal --cutoff-pick 5 --patch 5 --connected 3 --unit 2th_deg --quiet
$airy info few.h5 | head -n 1 | sed 's/[0-9]* kept/N kept/'
$airy info few.h5 | grep -c background

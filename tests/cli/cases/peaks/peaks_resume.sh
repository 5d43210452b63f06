# peaks of a run that was stopped or killed at any moment go on with --resume, and the file is that of a run that was not stopped
. "$cli/await.sh"
. "$cli/check.sh"
$airy simulate diffraction s.h5 --detector pilatus_100k --dtype int32 --frames 100 --spots 40 --seed 5 --quiet || exit 1
set -- s.h5 s.h5 s.h5 s.h5 s.h5 s.h5
set -- "$@" "$@" "$@" "$@" --batch 1 --threads 1
$airy peaks "$@" -o a.h5 --quiet || exit 1
# how many frames the partial result has
rows_of() { "$airy" info b.h5.partial --json | sed -n 's/.*"done": \([0-9]*\),.*/\1/p'; }
has() { ended $process || [ "$(rows_of)" -ge "$1" ]; }
same() {
    for d in sparse_frames/frame_ptr sparse_frames/index sparse_frames/intensity sparse_frames/background_avg sparse_frames/background_std \
        peaks/nPeaks peaks/peakXPosRaw peaks/peakYPosRaw peaks/peakTotalIntensity peaks/peakSNR peaks/peakSigma peaks/peakNPixels \
        sparsify/frame/index sparsify/frame/status; do
        $airy diff a.h5 "$1" --dataset /entry/$d --quiet >/dev/null 2>&1 || echo "$d differs"
    done
}
stop() { # SIGNAL ROWS [OPTION...]
    signal=$1 least=$2 && shift 2
    $airy peaks "$@" -o b.h5 --quiet 2>err &
    process=$!
    await has "$least" || exit 4
    kill -"$signal" $process 2>/dev/null
    wait $process 2>/dev/null
    [ ! -e b.h5 ] || { echo 'the run was too short to stop' >&2; exit 77; }
}
expect 'Ctrl-C leaves a partial result, and the message says how to go on'
stop INT 1 "$@"
sed 's/after [0-9]* of/after N of/' err
$airy info b.h5.partial | sed -n '2s/ [0-9]* of/ N of/p'
expect 'killed twice more it has more frames each time'
for more in 20 40; do
    before=$(rows_of)
    stop KILL $((before + more)) "$@" --resume
    [ "$(rows_of)" -ge $((before + more)) ] || echo "$before frames were lost"
done
expect 'the rest is done, and not what was done before'
before=$(rows_of)
$airy peaks "$@" -o b.h5 --resume --json --quiet >resumed || cat resumed
frames=$(sed -n 's/.*"frames": \([0-9]*\),.*/\1/p' resumed)
# some are made again, to see that they are the same
[ $((before + frames)) -le 2450 ] || cat resumed
expect 'all values are those of a run that was not stopped'
same b.h5
expect 'no other file is left'
ls
expect 'on other batches and threads it is the same'
rm b.h5
stop KILL 50 "$@"
$airy peaks "$@" --batch 5 --threads 2 -o b.h5 --resume --quiet
same b.h5

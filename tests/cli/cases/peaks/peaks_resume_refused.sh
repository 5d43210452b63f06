# what peaks cannot be continued from is refused in one line; a damaged partial result is continued from what is whole
. "$cli/check.sh"
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 24 --spots 20 --seed 7 --quiet || exit 1
cp s.h5 bad.h5 && $helper damage bad.h5 /entry/data/data 20 flip || exit 1
cp s.h5 other.h5 && $helper damage other.h5 /entry/data/data 12 flip || exit 1
$airy peaks bad.h5 -o a.h5 --on-error skip --quiet 2>/dev/null
$airy peaks bad.h5 -o y.h5 --quiet 2>/dev/null
cp y.h5.partial kept || exit 1
try() { expect "$1"; shift; "$airy" "$@" --quiet; echo "-> $?"; }
# again: the partial result is as it was
again() { cp kept y.h5.partial; rm -f y.h5; }
same() {
    for d in sparse_frames/frame_ptr sparse_frames/index sparse_frames/intensity sparse_frames/background_avg peaks/nPeaks peaks/peakXPosRaw \
        sparsify/frame/status; do
        $airy diff a.h5 y.h5 --dataset /entry/$d --quiet >/dev/null 2>&1 || echo "$d differs"
    done
}
try 'a partial result is not overwritten unasked' peaks bad.h5 -o y.h5
try 'a cutoff that differs is named' peaks bad.h5 -o y.h5 --resume --cutoff-pick 4 --on-error skip
try 'so are frames and bins' peaks bad.h5 -o y.h5 --resume --frames 1: --bins 300 --on-error skip
try 'and a clip, and a geometry' peaks bad.h5 -o y.h5 --resume --no-clip --dist 0.5 --on-error skip
try 'an input that differs is named' peaks other.h5 -o y.h5 --resume --on-error skip
try 'a partial result of peaks is none of integrate' integrate bad.h5 -o y.h5 --resume
cmp kept y.h5.partial
$airy integrate bad.h5 -o i.h5 --quiet 2>/dev/null
try 'one of integrate is none of peaks' peaks bad.h5 -o i.h5 --resume
echo notes >n.h5.partial
try 'a file of notes is neither continued' peaks bad.h5 -o n.h5 --resume
try 'nor removed' peaks bad.h5 -o n.h5 --force
cat n.h5.partial
try 'without one the run begins at the first frame' peaks s.h5 -o fresh.h5 --resume
try 'a finished one is complete already' peaks s.h5 -o fresh.h5 --resume --json
try 'a finished one of other options is named' peaks s.h5 -o fresh.h5 --resume --patch 5
try 'text has no --resume' integrate s.h5 -o t.xy --resume
try 'more peaks a frame than listed end a run' peaks s.h5 -o m.h5 --max-peaks 22
try 'and it goes on with longer lists' peaks s.h5 -o m.h5 --max-peaks 4000 --resume
damaged() { $airy peaks bad.h5 -o y.h5 --resume --on-error skip --json --quiet 2>said | grep '"resumed"'; same; }
expect 'a partial result goes on'
again; damaged
size=$(wc -c <kept)
expect 'one that was cut anywhere in its rows does too, from the rows that are whole'
for cut in 1 7 9 31 2000 30000 90000; do
    again; head -c $((size - cut)) kept >y.h5.partial
    $airy peaks bad.h5 -o y.h5 --resume --on-error skip --quiet 2>said
    [ $? = 3 ] || { echo "cut by $cut" && cat said; }
    same
done
expect 'one with a byte changed in its rows does too'
for at in $((size - 1)) $((size - 100)) $((size - 5000)) $((size / 2)) $((size / 3)) $((size / 4)); do
    again; printf '\245' | dd of=y.h5.partial bs=1 seek="$at" conv=notrunc 2>/dev/null
    $airy peaks bad.h5 -o y.h5 --resume --on-error skip --quiet 2>said
    [ $? = 3 ] || { echo "changed at $at" && cat said; }
    same
done
expect 'one with bytes behind its rows does too'
again; head -c 5000 /dev/zero >>y.h5.partial; damaged
again; head -c 50000 s.h5 >>y.h5.partial; damaged
expect 'one that was cut before its rows is refused'
for cut in 0 100 3000 6000; do
    again; head -c $cut kept >y.h5.partial
    $airy peaks bad.h5 -o y.h5 --resume --on-error skip --quiet 2>said; echo $? "$(wc -l <said)"
done
again; cp other.h5 bad.h5
try 'an input of other content is named' peaks bad.h5 -o y.h5 --resume --on-error skip
expect 'where the disk is full the rows that have room are kept'
rm y.h5.partial
set -- s.h5 s.h5 s.h5 s.h5 s.h5
set -- "$@" "$@" "$@" "$@"
(ulimit -f 2000 && exec $airy peaks "$@" -o full.h5 --quiet) 2>said; echo $?
sed 's/cannot write [0-9]* bytes at [0-9]*/cannot write N bytes at M/' said
$airy info full.h5.partial | grep -c '  [1-9][0-9]* of 480 frames done (not complete), 0 bad'
$airy peaks "$@" -o y.h5 --quiet && mv y.h5 a.h5
$airy peaks "$@" -o full.h5 --resume --json --quiet | grep -o '"resumed": [1-9]' | tr -d 1-9
mv full.h5 y.h5 && same
expect 'no other file is left'
echo *.partial

# frames of a data file that is lost count for nothing in the ratio; they are told
$airy simulate diffraction run_master.h5 --detector pilatus_100k --frames 8 --seed 1 --same-frame --frames-per-file 3 --quiet || exit 1
ratio() { sed -n 's/.* \([0-9.]*\)x compressed/\1/p'; }
whole=$($airy info run_master.h5 | ratio)
$airy info run_master.h5 --json | grep -q '"lost_frames": 0' || exit 2
# of a file that is cut behind its header, those that it ends before
cp run_data_000002.h5 whole_000002.h5
bytes=$(wc -c <whole_000002.h5)
truncate -s $((bytes / 2)) run_data_000002.h5
$airy info run_master.h5 >text 2>/dev/null
lost=$(sed -n 's/^  \([0-9]*\) frames* cannot be read.*/\1/p' text)
[ "$lost" -ge 1 ] && [ "$lost" -le 3 ] && [ "$(ratio <text)" = "$whole" ] || { cat text; exit 5; }
mv whole_000002.h5 run_data_000002.h5
# said once, by each command, with what to do
rm run_data_000002.h5
for command in 'stats --frames 0' 'stats --each --frames 0:3' 'clip --frames 0' 'label --above 1'; do
    $airy ${command%% *} run_master.h5 ${command#* } >text 2>&1
    [ "$(grep -c 'is missing or cut' text)" -le 2 ] && [ "$(grep -c 'frames cannot be read' text)" = 1 ] || { cat text; exit 6; }
done
$airy reduce run_master.h5 --by sum -o sum.npy 2>text && exit 7
tail -n 1 text | grep -q 'missing or cut; ' || { cat text; exit 8; }
for stack in run_master.h5 run_master.h5::/entry/instrument/detector/data; do
    $airy info $stack >text 2>/dev/null && [ "$(ratio <text)" = "$whole" ] && grep -q '^  3 frames cannot be read, of files that are missing or cut' text || exit 3
done
$airy info run_master.h5 --json 2>/dev/null | grep -q '"lost_frames": 3' || exit 4
# of files of their own, too
for i in 1 2 3; do $airy simulate kernel k_$i.npy --quiet; done
echo text >k_2.npy
$airy info 'k_#.npy' --json 2>/dev/null | grep -q '"lost_frames": 1'

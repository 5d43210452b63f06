# frames of a data file that is lost count for nothing in the ratio; they are told
$airy simulate diffraction run_master.h5 --detector pilatus_100k --frames 8 --seed 1 --same-frame --frames-per-file 3 --quiet || exit 1
ratio() { sed -n 's/.* \([0-9.]*\)x compressed/\1/p'; }
whole=$($airy info run_master.h5 | ratio)
$airy info run_master.h5 --json | grep -q '"lost_frames": 0' || exit 2
rm run_data_000002.h5
for stack in run_master.h5 run_master.h5::/entry/data/data; do
    $airy info $stack >text 2>/dev/null && [ "$(ratio <text)" = "$whole" ] && grep -q '^  3 frames cannot be read, of files that are missing or cut' text || exit 3
done
$airy info run_master.h5 --json 2>/dev/null | grep -q '"lost_frames": 3' || exit 4
# of files of their own, too
for i in 1 2 3; do $airy simulate kernel k_$i.npy --quiet; done
echo text >k_2.npy
$airy info 'k_#.npy' --json 2>/dev/null | grep -q '"lost_frames": 1'

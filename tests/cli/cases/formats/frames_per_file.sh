# a stack in several files under a master is the stack in one file, whatever the threads do
made() { $airy simulate diffraction "$@" --detector pilatus_100k --frames 8 --seed 1 --quiet; }
made run_master.h5 --frames-per-file 3 --threads 1 --gaps && made one.h5 --gaps || exit 1
[ "$(ls)" = 'one.h5
run_data_000001.h5
run_data_000002.h5
run_data_000003.h5
run_master.h5' ] || { ls; exit 2; }
$airy diff run_master.h5 one.h5 >/dev/null && $airy diff run_master.h5::/entry/instrument/detector/data one.h5 >/dev/null || exit 3
for stack in run_master.h5 one.h5; do $airy integrate $stack --bins 50 -o of_$stack --quiet || exit 4; done
$airy diff of_run_master.h5 of_one.h5 >/dev/null || exit 5
mkdir more && made more/run_master.h5 --frames-per-file 3 --threads 8 --gaps || exit 6
for file in run_*.h5; do cmp $file more/$file || exit 7; done
# compressed again, plain and back: the last file has what is left
$airy decompress run_master.h5 plain.h5 --frames-per-file 7 --json --quiet >said && grep -q '"files": 2' said && [ -e plain_data_000002.h5 ] || exit 8
$airy compress plain.h5 -o again_master.h5 --frames-per-file 5 2>said && grep -q '8 frames .* in 2 files' said && ! grep -q 'carried over' said || exit 9
$airy compress again_master.h5::/entry/instrument/detector/data more/one.h5 --quiet && cmp one.h5 more/one.h5 || exit 10
# neither an old data file nor one that frames are read from is written over
cksum ./*.h5 more/*.h5 >before
! made again_master.h5 --frames-per-file 5 2>>said && ! made more/again.h5 --frames-per-file 0 2>>said || exit 11
rm again_master.h5 && cksum ./*.h5 more/*.h5 >before
! made again_master.h5 --frames-per-file 5 2>said && grep -q "'again_data_000001.h5' is there already; --force overwrites it" said || exit 12
! $airy compress one.h5 run.h5 --frames-per-file 3 --force 2>said && grep -q "'run_master.h5' has data files of the same names" said || exit 13
mv run_master.h5 else.h5
! $airy compress else.h5 run.h5 --frames-per-file 3 --force 2>said && grep -q 'frames are read from' said || exit 17
mv else.h5 run_master.h5
! $airy compress again_data_000002.h5 again.h5 --frames-per-file 1 --force 2>said && grep -q 'would be lost' said || exit 14
! $airy simulate diffraction many.h5 --detector pilatus_100k --frames 100000000 --frames-per-file 1 --force 2>said &&
    grep -q 'expected at most 100000 files' said || exit 16
cksum ./*.h5 more/*.h5 >after && cmp before after || exit 15
made again_master.h5 --frames-per-file 2 --force && $airy diff again_master.h5 run_master.h5 >/dev/null && [ "$(echo ./*.partial)" = './*.partial' ] || exit 18
# of the run before, which had four files, nothing stays that the new master does not link to; nor does an input go so
echo 'of nobody' >again_data_000005.h5
$airy compress again_data_000004.h5 again_master.h5 --frames-per-file 1 --force 2>said
[ $? = 1 ] && grep -q "'again_data_000004.h5' is the same file as the input" said && $airy diff again_master.h5 run_master.h5 >/dev/null || exit 19
made again_master.h5 --frames-per-file 4 --force && [ "$(echo again_*)" = 'again_data_000001.h5 again_data_000002.h5 again_data_000005.h5 again_master.h5' ] || exit 20
$airy compress one.h5 again_master.h5 --frames-per-file 8 --force 2>said && grep -q "removed 1 data file that only the stack before had, 'again_data_000002.h5'" said || exit 21
# one file in its place: what the master linked to is named
$airy compress one.h5 again_master.h5 --force 2>said && grep -q "1 data file of the stack before stays, 'again_data_000001.h5'; again_master.h5 no longer links to it" said && [ -e again_data_000001.h5 ] || exit 22
# of a master that cannot be read nobody knows what it linked to
made again_master.h5 --frames-per-file 2 --force && head -c 100 again_master.h5 >cut && mv cut again_master.h5 || exit 23
$airy compress one.h5 again_master.h5 --frames-per-file 4 --force 2>said && grep -q "'again_data_000003.h5' stays, to which the stack before did not link" said && [ -e again_data_000004.h5 ]

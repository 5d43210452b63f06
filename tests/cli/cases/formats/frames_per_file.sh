# a stack in several files under a master is the stack in one file, whatever the threads do
. "$cli/check.sh"
made() { $airy simulate diffraction "$@" --detector pilatus_100k --frames 8 --seed 1 --quiet; }
expect 'a stack in several files has a master and data files'
made run_master.h5 --frames-per-file 3 --threads 1 --gaps && made one.h5 --gaps || exit 1
[ "$(ls)" = 'one.h5
run_data_000001.h5
run_data_000002.h5
run_data_000003.h5
run_master.h5' ] || { ls; exit 2; }
expect 'the master has the frames and metadata of one file'
$airy diff run_master.h5 one.h5 >/dev/null && $airy diff run_master.h5::/entry/instrument/detector/data one.h5 >/dev/null || exit 3
expect 'the master gives the patterns of one file'
for stack in run_master.h5 one.h5; do $airy integrate $stack --bins 50 -o of_$stack --quiet || exit 4; done
$airy diff of_run_master.h5 of_one.h5 >/dev/null || exit 5
expect 'threads do not change a byte of any file'
mkdir more && made more/run_master.h5 --frames-per-file 3 --threads 8 --gaps || exit 6
for file in run_*.h5; do cmp $file more/$file || exit 7; done
expect 'the last of plain files has what is left'
$airy decompress run_master.h5 plain.h5 --frames-per-file 7 --json --quiet >said && grep -q '"files": 2' said && [ -e plain_data_000002.h5 ] || exit 8
expect 'the last of compressed files has what is left'
$airy compress plain.h5 -o again_master.h5 --frames-per-file 5 2>said && grep -q '8 frames .* in 2 files' said && ! grep -q 'are copied' said || exit 9
expect 'frames of several files go back into one'
$airy compress again_master.h5::/entry/instrument/detector/data more/one.h5 --quiet && cmp one.h5 more/one.h5 || exit 10
expect 'data files are not written over'
cksum ./*.h5 more/*.h5 >before
! made again_master.h5 --frames-per-file 5 2>>said && ! made more/again.h5 --frames-per-file 0 2>>said || exit 11
rm again_master.h5 && cksum ./*.h5 more/*.h5 >before
expect 'data files of an old stack are not written over without --force'
! made again_master.h5 --frames-per-file 5 2>said && grep -q "'again_data_000001.h5' is there already; --force overwrites it" said || exit 12
expect 'data files of another master are not written over'
! $airy compress one.h5 run.h5 --frames-per-file 3 --force 2>said && grep -q "'run_master.h5' has data files of the same names" said || exit 13
mv run_master.h5 else.h5
! $airy compress else.h5 run.h5 --frames-per-file 3 --force 2>said && grep -q 'frames are read from' said || exit 17
mv else.h5 run_master.h5
expect 'a file that frames are read from is not written over'
! $airy compress again_data_000002.h5 again.h5 --frames-per-file 1 --force 2>said && grep -q 'would be lost' said || exit 14
expect 'the number of files is limited'
! $airy simulate diffraction many.h5 --detector pilatus_100k --frames 100000000 --frames-per-file 1 --force 2>said &&
    grep -q 'expected at most 100000 files' said || exit 16
expect 'no file was touched'
cksum ./*.h5 more/*.h5 >after && cmp before after || exit 15
expect '--force writes the stack anew'
made again_master.h5 --frames-per-file 2 --force && $airy diff again_master.h5 run_master.h5 >/dev/null && [ "$(echo ./*.partial)" = './*.partial' ] || exit 18
# of the run before, which had four files, nothing stays that the new master does not link to; nor does an input go so
expect '--force does not write over its input'
echo 'of nobody' >again_data_000005.h5
$airy compress again_data_000004.h5 again_master.h5 --frames-per-file 1 --force 2>said
[ $? = 1 ] && grep -q "'again_data_000004.h5' is the same file as the input" said && $airy diff again_master.h5 run_master.h5 >/dev/null || exit 19
expect '--force removes data files that only the stack before had'
made again_master.h5 --frames-per-file 4 --force && [ "$(echo again_*)" = 'again_data_000001.h5 again_data_000002.h5 again_data_000005.h5 again_master.h5' ] || exit 20
expect 'the removed file is named'
$airy compress one.h5 again_master.h5 --frames-per-file 8 --force 2>said && grep -q "removed 1 data file that only the stack before had, 'again_data_000002.h5'" said || exit 21
expect 'a data file that stays without its master is named'
# one file in its place: what the master linked to is named
$airy compress one.h5 again_master.h5 --force 2>said && grep -q "1 data file of the stack before stays, 'again_data_000001.h5'; again_master.h5 no longer links to it" said && [ -e again_data_000001.h5 ] || exit 22
expect 'data files of a master that cannot be read stay and are named'
# of a master that cannot be read nobody knows what it linked to
made again_master.h5 --frames-per-file 2 --force && head -c 100 again_master.h5 >cut && mv cut again_master.h5 || exit 23
$airy compress one.h5 again_master.h5 --frames-per-file 4 --force 2>said && grep -q "'again_data_000003.h5' stays, to which the stack before did not link" said && [ -e again_data_000004.h5 ]

# --follow --resume where a file was replaced by another measurement whose newest frame does not show that, and where a file is the same again
. "$cli/await.sh"
. "$cli/check.sh"
poni=${small%.h5}.poni
begin() { # takes 8 frames, and is stopped while it waits for more
    rm -f out.h5 out.h5.partial
    $airy integrate "$1" --poni $poni -o out.h5 --follow $2 --poll 0.05 --quiet 2>err &
    id=$!
    await rows out.h5 8 && await catches $id && kill -INT $id || { cat err >&2; exit 1; }
    wait $id
}
resume() { $airy integrate "$1" --poni $poni -o out.h5 --follow $2 --poll 0.05 --follow-timeout 1 --resume --quiet 2>&1; }
made() { $airy simulate diffraction "$@" --detector pilatus_100k --quiet --force || exit 2; }
# each frame turned by 180 degrees: total, maximum and the counts of pixels are those of the frame before
expect 'a frame that was turned by 180 degrees is another one'
cp $small in.h5
begin in.h5 '--frames 0:9'
$airy decompress $small in.h5 --force --quiet && $helper turned in.h5 || exit 3
resume in.h5 '--frames 0:9' | grep -o "frame 7 of 'in.h5' is another one than when it was taken"
expect 'a copy of the same file is the same'
cp $small new.h5 && mv new.h5 in.h5
resume in.h5 '--frames 0:9' | grep -c 'another'
# one of several data files, not that of the newest frame
expect 'a data file of the middle that was replaced is another one'
made run_master.h5 --frames 8 --frames-per-file 3 --seed 1
begin run_master.h5 '--frames 0:9'
made else_master.h5 --frames 8 --frames-per-file 3 --seed 2
mv else_data_000002.h5 run_data_000002.h5
resume run_master.h5 '--frames 0:9' | grep -o "frame 3 of '.*run_data_000002.h5' is another one than when it was taken: the file was replaced"  | sed 's|/.*/||'
# files of a pattern: one that was replaced before the last row was written
expect 'a file of a pattern that was replaced is another one'
for i in 1 2 3 4 5 6 7 8; do made f_$i.h5 --frames 1 --seed $i; done
begin 'f_#.h5' ''
made f_3.h5 --frames 1 --seed 33
touch -d '1 hour' out.h5.partial
resume 'f_#.h5' '' | grep -o "frame 0 of f_3.h5 is another one than when row 2 was made of it: the file was replaced"
expect 'a file of a pattern that is the same again is taken'
made f_3.h5 --frames 1 --seed 3
touch -d '1 hour' out.h5.partial
resume 'f_#.h5' '' && ls out*
# without --follow: a configuration knows the master alone
expect 'a data file that was replaced is another one without --follow'
made two_master.h5 --frames 8 --frames-per-file 3 --seed 1 && made else_master.h5 --frames 8 --frames-per-file 3 --seed 2
cp two_data_000003.h5 whole.h5 && $helper damage two_data_000003.h5 /entry/data/data 1 flip
$airy integrate two_master.h5 --poni $poni -o two.h5 --batch 1 --threads 1 --quiet 2>err
mv whole.h5 two_data_000003.h5 && mv two_data_000001.h5 first.h5 && mv else_data_000001.h5 two_data_000001.h5
$airy integrate two_master.h5 --poni $poni -o two.h5 --resume --quiet 2>&1 | grep -o "frame 0 of '.*is another one than when its row was made" | sed 's|/.*/||'
expect 'a data file that is the same again is taken without --follow'
mv first.h5 two_data_000001.h5
$airy integrate two_master.h5 --poni $poni -o two.h5 --resume --quiet && ls two.h5

# A stack whose last frames are not there (yet): the sentence says what may be, and skip goes on.
size=$(wc -c <$small)
head -c $((size - 20000)) $small >cut.h5
$airy integrate cut.h5 --poni "${small%.h5}.poni" -o y.h5 2>said
[ $? = 1 ] && grep -q 'shorter than its index states; it may still be written, or its copy was cut; --on-error skip' said || { cat said >&2; exit 1; }
! grep -q 'permissions' said || exit 2
$airy integrate cut.h5 --poni "${small%.h5}.poni" -o y.h5 --on-error skip --force --quiet 2>said
[ $? = 3 ] || { cat said >&2; exit 3; }
# A mask, a flat field and a configuration cannot be left out: nothing advises to skip frames, or says how raw frames are described.
head -c 700 $small >head.h5
head -c 1000 /dev/zero >junk.h5
mkdir folder lone
$airy simulate diffraction lone/run_master.h5 --detector pilatus_100k --frames 4 --frames-per-file 2 --quiet
rm lone/run_data_000001.h5
for option in mask flat config; do
    for file in cut.h5 head.h5 junk.h5 folder lone/run_master.h5; do
        [ $option/${file#lone} = config/cut.h5 ] || $airy integrate $small --poni "${small%.h5}.poni" -o z.h5 --$option $file 2>&1
    done
done >said
! grep -e --on-error -e --raw -e '\*' said || exit 4
grep -c -e 'its copy was cut$' -e 'check the file$' -e 'give a file$' -e 'beside its master$' said | grep -qx 14 || { cat said >&2; exit 5; }
# Neither does it help where a file cannot be opened, but among an input's frames and folders.
! $airy integrate head.h5 -o z.h5 --poni "${small%.h5}.poni" 2>said || exit 6
grep -q 'its copy was cut$' said || exit 7
! $airy integrate folder -o z.h5 --poni "${small%.h5}.poni" 2>said || exit 8
grep -q "folder's files as 'FOLDER/\*.cbf'$" said || exit 9

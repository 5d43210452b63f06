# -o names the output, too; a master's data are its frames, not arrays left out
$airy decompress $golden/diffraction/hdf5/series_master.h5 -o a.h5 2>said && ! grep -q 'are copied' said || exit 1
$airy diff a.h5 $golden/diffraction/hdf5/series_master.h5 >/dev/null
# of several frames that cannot be read the first is told, whatever the threads do
cp $small bad.h5 && $helper damage bad.h5 /entry/data/data 5 flip && $helper damage bad.h5 /entry/data/data 2 flip || exit 3
for threads in 1 3 8; do
    $airy compress bad.h5 c.h5 --threads $threads 2>said
    [ $? = 1 ] && grep -q ' frame 2: ' said && [ "$(echo c.h5*)" = 'c.h5*' ] || { cat said >&2; exit 4; }
done
# and of those that can be the file is the same, in whatever second it is made
$airy compress $small one.h5 --threads 1 --quiet || exit 5
sleep 1.1
$airy compress $small many.h5 --threads 8 --quiet && cmp one.h5 many.h5 || exit 6
# what is said of the size is of these frames: beside plain ones, or of plain ones beside what they were
$airy compress $small sized.h5 2>said && grep -q ' a frame ([0-9.]*x smaller than plain)' said || exit 30
x=$(sed -n 's/.*(\([0-9.]*x\) smaller.*/\1/p' said)
$airy decompress sized.h5 back.h5 2>said && grep -q " a frame ($x larger than it was)" said || exit 31
$airy decompress back.h5 again.h5 2>said && grep -q ' a frame (plain)' said || exit 32
$airy simulate diffraction noise.h5 --detector pilatus_100k --frames 2 --incompressible 2>said && grep -q ' a frame (as large as plain)' said || exit 33

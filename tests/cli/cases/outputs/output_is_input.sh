# an output that is an input is refused even by force, whatever its name; nothing is touched
cp $small a.h5 && cp ${small%.h5}.poni g.poni && ln -s a.h5 link.h5 && ln a.h5 hard.h5 || exit 1
cp $golden/diffraction/hdf5/series_*.h5 . && chmod u+w ./*.h5 && mkdir sums && cksum ./*.* >sums/before || exit 1
refused() { "$@" >>said 2>&1; [ $? = 1 ] || { echo "$*"; exit 2; }; }
refused $airy integrate a.h5 -o a.h5 --force
refused $airy integrate a.h5 -o link.h5 --force
refused $airy integrate link.h5 -o hard.h5 --force
refused $airy integrate a.h5::/entry/data/data -o a.h5 --force
refused $airy integrate $small --mask a.h5 -o a.h5 --force
refused $airy integrate $small --flat a.h5 -o hard.h5 --force
refused $airy integrate series_master.h5 --unit 2th_deg -o series_data_000001.h5 --force
refused $airy compress a.h5 link.h5 --force
refused $airy decompress series_master.h5 series_data_000002.h5 --force
refused $airy convert a.h5 -o hard.h5 --force
refused $airy convert series_master.h5 -o series_data_000002.h5 --force
$airy convert a.h5 --frames 0 -o f.npy --quiet && $airy integrate a.h5 -o i.h5 --bins 50 --quiet || exit 5
cksum ./*.* >sums/before
refused $airy merge i.h5 -o i.h5 --force
refused $airy reduce a.h5 -o a.h5 --force
refused $airy label f.npy --sigma 3 -o f.npy --force
refused $airy threshold f.npy --above 3 -o ./f.npy --force
refused $airy blur f.npy --sigma 1 -o f.npy --force
refused $airy convolve f.npy --kernel f.npy -o f.npy --force
refused $airy filter median f.npy -o f.npy --force
refused $airy sources f.npy --background f.npy --force
refused $airy stats f.npy --profile=f.npy --force
refused $airy integrate a.h5 --config i.h5 -o i.h5 --force
ln -s a.h5 a.png && refused $airy view a.h5 -o a.png --force && refused $airy plot a.h5 -o a.png --force
cp g.poni g.dat && refused $airy integrate a.h5 --frames 3 --poni g.dat -o g.dat --force
ln -s g.poni p.h5 && refused $airy simulate diffraction p.h5 --poni g.poni --force
refused $airy peaks a.h5 --poni g.poni -o p.h5 --force
refused $airy simulate diffraction new.h5 --poni g.poni --write-poni g.poni --frames 1 --force
cmp -s g.poni g.dat || exit 3
rm -f a.png g.dat p.h5
# neither is a pipe or a device replaced by a file
mkfifo pipe.raw && ! $airy simulate oct pipe.raw --lines 8 --samples 64 --force 2>pipe && [ -p pipe.raw ] &&
    grep -q "'pipe.raw' is a device or a pipe" pipe || exit 5
rm -f pipe.raw pipe
[ "$(grep -c 'would be lost\|frames are read from' said)" = 27 ] || { cat said; exit 4; }
rm said && cksum ./*.* >sums/after && cmp sums/before sums/after

# an output that is an input is refused even by force, whatever its name; nothing is touched
. "$cli/check.sh"
cp $small a.h5 && cp ${small%.h5}.poni g.poni && ln -s a.h5 link.h5 && ln a.h5 hard.h5 || exit 1
cp $golden/diffraction/hdf5/series_*.h5 . && chmod u+w ./*.h5 && mkdir sums && cksum ./*.* >sums/before || exit 1
refused() { expect "$1"; shift; "$@" >>said 2>&1; [ $? = 1 ] || { echo "$*"; exit 2; }; }
refused 'integrate does not write over its input' $airy integrate a.h5 -o a.h5 --force
refused 'integrate does not write over its input by a symbolic link' $airy integrate a.h5 -o link.h5 --force
refused 'integrate does not write over its input by a hard link' $airy integrate link.h5 -o hard.h5 --force
refused 'integrate does not write over its input named by a dataset' $airy integrate a.h5::/entry/data/data -o a.h5 --force
refused 'integrate does not write over its mask' $airy integrate $small --mask a.h5 -o a.h5 --force
refused 'integrate does not write over its flat by a hard link' $airy integrate $small --flat a.h5 -o hard.h5 --force
refused 'integrate does not write over a data file of its master' $airy integrate series_master.h5 --unit 2th_deg -o series_data_000001.h5 --force
refused 'compress does not write over its input by a symbolic link' $airy compress a.h5 link.h5 --force
refused 'decompress does not write over a data file of its master' $airy decompress series_master.h5 series_data_000002.h5 --force
refused 'convert does not write over its input by a hard link' $airy convert a.h5 -o hard.h5 --force
refused 'convert does not write over a data file of its master' $airy convert series_master.h5 -o series_data_000002.h5 --force
$airy convert a.h5 --frames 0 -o f.npy --quiet && $airy integrate a.h5 -o i.h5 --bins 50 --quiet || exit 5
cksum ./*.* >sums/before
refused 'merge does not write over its input' $airy merge i.h5 -o i.h5 --force
refused 'reduce does not write over its input' $airy reduce a.h5 -o a.h5 --force
refused 'label does not write over its input' $airy label f.npy --sigma 3 -o f.npy --force
refused 'threshold does not write over its input by another path' $airy threshold f.npy --above 3 -o ./f.npy --force
refused 'blur does not write over its input' $airy blur f.npy --sigma 1 -o f.npy --force
refused 'convolve does not write over its input' $airy convolve f.npy --kernel f.npy -o f.npy --force
refused 'filter does not write over its input' $airy filter median f.npy -o f.npy --force
refused 'sources does not write over its input with a background' $airy sources f.npy --background f.npy --force
refused 'stats does not write over its input with a profile' $airy stats f.npy --profile=f.npy --force
refused 'integrate does not write over its configuration' $airy integrate a.h5 --config i.h5 -o i.h5 --force
ln -s a.h5 a.png || exit 1
refused 'view does not write over its input by a symbolic link' $airy view a.h5 -o a.png --force
refused 'plot does not write over its input by a symbolic link' $airy plot a.h5 -o a.png --force
cp g.poni g.dat || exit 1
refused 'integrate does not write over its geometry' $airy integrate a.h5 --frames 3 --poni g.dat -o g.dat --force
ln -s g.poni p.h5 || exit 1
refused 'simulate does not write over its geometry by a symbolic link' $airy simulate diffraction p.h5 --poni g.poni --force
refused 'peaks does not write over its geometry by a symbolic link' $airy peaks a.h5 --poni g.poni -o p.h5 --force
refused 'simulate does not write over its geometry with another one' $airy simulate diffraction new.h5 --poni g.poni --write-poni g.poni --frames 1 --force
expect 'the geometry is untouched'
cmp -s g.poni g.dat || exit 3
rm -f a.png g.dat p.h5
expect 'a pipe is not replaced by a file'
mkfifo pipe.raw && ! $airy simulate oct pipe.raw --lines 8 --samples 64 --force 2>pipe && [ -p pipe.raw ] &&
    grep -q "'pipe.raw' is a device or a pipe" pipe || exit 5
rm -f pipe.raw pipe
expect 'each refusal says what would be lost'
[ "$(grep -c 'would be lost\|frames are read from' said)" = 27 ] || { cat said; exit 4; }
expect 'no file is touched'
rm said && cksum ./*.* >sums/after && cmp sums/before sums/after

# FILE::DATASET replaces a file that holds that dataset alone; of any other nothing is lost, with --force either
$airy simulate sky a.npy --height 8 --width 8 --sources 0 --source none --quiet && $airy simulate sky b.npy --height 8 --width 8 --sources 1 --seed 2 --quiet || exit 1
$airy convert a.npy -o f.h5 --quiet && cp f.h5 before || exit 2
$airy convert b.npy -o f.h5::/entry/second/data --force && exit 3
$airy convert b.npy -o f.h5::/entry/second/data && exit 4
$airy blur b.npy --sigma 1 -o f.h5::/entry/second/data --force --quiet && exit 5
echo text >t.h5 && $airy convert b.npy -o t.h5::/entry/data --force && exit 6
cmp f.h5 before && grep -q text t.h5 || exit 7
$airy convert b.npy -o f.h5::/entry/data/data && exit 8
$airy convert b.npy -o f.h5::/entry/data/data --force && $airy diff f.h5 b.npy || exit 9
$airy convert b.npy -o f.h5::other --force && exit 10
$airy convert b.npy -o f.h5 --force

# kernels of SExtractor are those of an image: NORM over the sum of absolute values
printf 'CONV NORM\n# FWHM = 2 pixels\n1 2 1\n2 4 2\n1 2 1\n' >small.conv
printf 'CONV NONORM\n0.0625 0.125 0.0625\n0.125 0.25 0.125\n0.0625 0.125 0.0625\n' >same.conv
printf 'CONV NONORM\n1 2\n' >even.conv
printf 'CONV NORM\n1 2 1\n2 4\n' >cut.conv
$airy convert small.conv -o small.npy --quiet && $airy simulate sky sky.npy --height 96 --width 96 --sources 12 --seed 3 --quiet || exit 1
for kernel in small.conv same.conv small.npy; do
    $airy convolve sky.npy --kernel $kernel -o c.npy --mode same --force --quiet && cp c.npy $kernel.npy || exit 2
    $airy sources sky.npy --kernel $kernel --catalog c.csv --force >$kernel.json 2>said && grep -v '^airy.*device' said >$kernel.said && cp c.csv $kernel.csv || exit 3
done
for kernel in same.conv small.npy; do cmp small.conv.npy $kernel.npy && cmp small.conv.csv $kernel.csv && cmp small.conv.json $kernel.json && cmp small.conv.said $kernel.said || exit 4; done
# NONORM: a kernel whose values add up to 16 detects at a 16th, which is said; sep knows no such thing
printf 'CONV NONORM\n1 2 1\n2 4 2\n1 2 1\n' >large.conv
$airy sources sky.npy --kernel large.conv --sigma 80 --regions large.reg 2>said >large.json && grep '^airy.*NONORM' said && $airy sources sky.npy --kernel small.conv --regions small.reg --quiet >small.json || exit 7
cmp large.reg small.reg && for of in large small; do grep '"sources"\|expected_false' $of.json | sed 's/[0-9][0-9][0-9]e/e/' >$of.n; done && cmp large.n small.n || exit 8
$airy sources sky.npy --compat sep --kernel large.conv --catalog l.csv --quiet >l && $airy sources sky.npy --compat sep --kernel small.conv --catalog m.csv --quiet | cmp - l && cmp l.csv m.csv || exit 9
$airy sources sky.npy --kernel large.conv --quiet | grep '"sources"\|expected_false' | cmp -s - small.n && exit 10
# the filter of --compat sep is this one
$airy sources sky.npy --compat sep --catalog a.csv --quiet >a && $airy sources sky.npy --compat sep --kernel small.conv --catalog b.csv --quiet | cmp - a && cmp a.csv b.csv || exit 5
{ $airy sources sky.npy --quiet; cat small.conv.json; } | sed -n '/expected_false/s/\(\.[0-9]\{3\}\)[0-9]*/\1/p'
$airy sources sky.npy --kernel small.conv --catalog c.vot --quiet >said && grep -c '"KERNEL".*"small.conv"' c.vot
$helper image nan.h5 3 3 nan && $helper image zero.h5 3 3 0 && $helper image wide.h5 1 1027 1 || exit 6
# told before the image is looked at
for kernel in even.conv nan.h5::/image zero.h5::/image wide.h5::/image; do $airy sources none.npy --kernel $kernel; echo $?; done
$airy convolve sky.npy --kernel cut.conv -o no.npy; echo $?
$airy sources sky.npy --kernel small.conv --matched 2; echo $?
$airy sources sky.npy --kernel small.conv --method simple; echo $?
$airy convert small.npy -o no.conv; echo $?
# without a suffix, too
cp small.conv kernel && $airy info kernel

# every filter runs; medians agree with ranks, top-hats with the openings they are made of
m=$golden/astro/ccl_torture.h5::/perc0.5__mask
$airy filter --list | cut -d ' ' -f 1 | tr '\n' ' '; echo
for f in median minimum maximum opening closing tophat black-tophat box sobel prewitt gradient laplace; do
    $airy filter $f $m -o $f.npy || echo "$f failed"
done
$airy filter log $m -o log.npy --sigma 1,0.7 --dtype float64 --border mirror && $airy filter dog $m -o dog.npy --sigma 1 --sigma2 2
$airy filter rank $m -o rank.npy --rank=-5 && $airy diff median.npy rank.npy
$airy filter percentile $m -o percent.npy --percentile 50 --size 3,3 && $airy diff median.npy percent.npy
$airy filter minimum $m -o a.npy --size 2 --border value=1 && $airy filter maximum $m -o b.npy --size 1,131 --border wrap
$airy filter median $m -o ball.npy --footprint ball=1 --json | grep -e dtype -e tiles
$airy filter median $m -o cross.npy --footprint $golden/astro/ccl_torture.h5::/diag__mask && $airy stats cross.npy | grep '"max"'
# bright pixels that stand alone go, the noise of an image stays but for 1 in 400 or so
$airy simulate diracs stars.npy --quiet && $airy filter hampel stars.npy -o dark.npy --size 5 && $airy stats dark.npy | grep '"max"'
$airy simulate sky noise.fits --source none --sources 0 --seed 3 --width 100 --height 100 --quiet && $airy filter hampel noise.fits -o calm.npy --size 11 --json | grep dtype
# 1 x 1, N x 1, and the dtype of floats
$airy filter median $golden/astro/ccl_torture.h5::/onepix__mask -o one.npy --size 7,1025 && $airy stats one.npy | grep '"sum"'
$airy filter opening $golden/astro/ccl_torture.h5::/col__mask -o col.npy --footprint ball=3 --profile 2>&1 | grep -c '^rank_network'
$airy filter sobel $m -o s.npy --axis 0 --json | grep dtype && $airy filter sobel log.npy -o t.npy --json | grep dtype && $airy filter median log.npy -o u.npy --json | grep dtype

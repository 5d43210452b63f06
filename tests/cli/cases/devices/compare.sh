$airy convert $golden/astro/ks_cases.h5::/even_median -o a.npy --quiet
$airy stats a.npy --compare cpu,cpu >s && grep -c first_seconds s && grep -e '"median"' -e '"values"' -e '"ulp"' s
$airy clip a.npy --compare cpu,cpu | grep '"different"'
$airy threshold a.npy --above 4 -o m.npy --compare cpu,cpu | grep -e '"name"' -e '"ulp"' && $airy stats m.npy | grep sum
$airy blur a.npy --sigma 1 -o b.npy --compare cpu,cpu | grep -e '"output"' -e '"name"'
$airy simulate sky y.npy --height 128 --width 128 --quiet
$airy label y.npy --sigma 5 --table t.csv --compare cpu,cpu | grep -e '"name"' -e '"different"'
ls -A | grep -c -e compare-
$airy stats a.npy --compare cpu; echo $?
$airy stats a.npy --compare cpu,cpu --device cpu; echo $?
$airy stats a.npy --compare cpu,nothing >/dev/null; echo $?
$airy threshold a.npy --above 4 -o m.npy --compare cpu,cpu; echo $?
$airy view a.npy -o v.png --compare cpu,cpu; echo $?
$airy blur a.npy --sigma 1 -o d.h5::/g/image --compare cpu,cpu | grep -e '"output"' -e '"name"' -e '"ulp"' && ls -A | grep -e h5
$airy blur a.npy --sigma 1 -o d.h5::/g/image --compare cpu,cpu; echo $?; ls -A | grep -e h5
for o in "--catalog s.fits" "--plot s.png"; do $airy sources y.npy $o --compare cpu,cpu --quiet >/dev/null; echo $?; done; ls s.*
# what is said is said once, and of the output's own name
$airy sources y.npy --compare cpu,cpu 2>&1 >/dev/null | grep -c -e ' above '
$airy sources y.npy --compare cpu,cpu --quiet 2>&1 >/dev/null | grep -c .
$airy simulate sky y.fits --height 16 --width 16 --quiet && $airy simulate kernel k.npy --size 3 --quiet
$airy convolve y.fits --kernel k.npy -o full.fits --compare cpu,cpu 2>&1 >/dev/null

# a pixel mask of a file that does not fit its frames: its shape and the way out are named, and who takes all pixels says so
$airy convert $small -o s.npy --quiet && $airy convert s.npy -o s.h5 --quiet && $helper monitor s.h5 /entry/instrument/detector/pixel_mask 12 || exit 3
$helper image none.h5 195 487 0
poni=${small%.h5}.poni
for command in "integrate s.h5 --poni $poni --bins 20 -o r.h5" "integrate s.h5 --poni $poni --bins 20 -o r.h5 --mask-only none.h5" \
    "integrate s.h5 --poni $poni --bins 20 -o f.h5 --mask-only none.h5 --follow --follow-timeout 0.2 --poll 0.05" \
    "compress s.h5 c.h5" "view s.h5 -o v.png" "reduce s.h5 --hot 5 -o hot.npy" \
    "reduce s.h5 -o mean.npy" "reduce s.h5 -o mean.h5" "convert s.h5 -o plain.h5" "stats s.h5" "view plain.h5 -o plain.png"; do
    $airy $command 2>&1 >/dev/null | grep 'pixel mask'
    echo $command | cut -d' ' -f 1,2
done

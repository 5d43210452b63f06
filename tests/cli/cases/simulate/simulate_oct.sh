# the same bits everywhere: sums of what the pixels must be
pixels() { tail -c "$2" "$1" | sha256sum | cut -c1-16; }
$airy simulate oct a.raw --samples 256 --lines 40 --frames 2 --quiet && pixels a.raw 40960
$airy simulate oct b.raw --samples 256 --lines 40 --frames 2 --threads 1 --quiet && cmp a.raw b.raw
$airy simulate oct c.npy --samples 256 --lines 40 --frames 2 --quiet && tail -c 40960 c.npy | cmp - a.raw
$airy simulate oct d.h5 --samples 256 --lines 40 --frames 2 --quiet && $airy diff c.npy d.h5
case $($airy --version --verbose) in *"tiff: libtiff"*) $airy simulate oct e.tif --samples 256 --lines 40 --frames 2 --quiet && $airy diff c.npy e.tif >said || cat said ;; esac
$airy simulate oct f.raw --samples 250 --lines 9 --frames 3 --repeats 2 --packing 12 --bidirectional --sinusoidal --dispersion 20,-5 --seed 5 --quiet && pixels f.raw 10125
$airy simulate oct g.raw --samples 64 --lines 3 --packing 10 --balanced --quiet && pixels g.raw 240
$airy simulate oct h.npy --samples 128 --lines 5 --dtype f32 --reflectors 100:-20,250.5:-30:0.5 --truth h.csv --quiet && pixels h.npy 2560
cat h.csv
$airy simulate oct i.npy --samples 128 --lines 5 --dtype i16 --bits 14 --linear-k --spectrum 1310,60 --noiseless --json | sed 's/"seconds".*//'
for i in $(seq 64); do echo "1e-6"; done >flat.txt
for i in $(seq 64); do echo "$((1200 + i))e-9"; done >rise.txt
$airy simulate oct j.raw --samples 64 --lines 3 --wavelengths rise.txt --spectrum-file rise.txt --quiet && pixels j.raw 384
$airy simulate oct x.raw --samples 64 --wavelengths flat.txt; echo $?
$airy simulate oct x.raw --samples 65 --wavelengths rise.txt; echo $?
$airy simulate oct x.raw --samples 64 --wavelengths 800,-900; echo $?
$airy simulate oct x.raw --samples 65 --packing 12; echo $?
$airy simulate oct x.raw --reflectors 100; echo $?
$airy simulate oct x.raw --reflectors 100:-20 --flow 2; echo $?
$airy simulate oct x.raw --truth x.csv; echo $?
$airy simulate oct x.raw --dtype u8 --bits 12; echo $?
$airy simulate oct x.png; echo $?
$airy simulate oct a.raw --samples 64; echo $?
$airy simulate oct x.raw --dtype u32; echo $?
ls x* 2>/dev/null
exit 0

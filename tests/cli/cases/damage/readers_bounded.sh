# Every argument and option that names an input, with what has no end or no writer and with files that are far larger than they
# look: each run ends within seconds, with exit code 1 or 2 and one line. AIRY_DEVICE is the CPU, so the memory may be limited.
. "$cli/check.sh"
stem=${small%.h5}
cp "$small" small.h5 && cp "$stem.poni" small.poni || exit 9
"$airy" convert small.h5 --frames 0 -o i.npy --quiet || exit 9
"$airy" integrate small.h5 --poni small.poni -o r.h5 --quiet || exit 9
"$airy" simulate sky s.fits --height 32 --width 32 --quiet || exit 9
"$airy" simulate oct m.raw --lines 16 --samples 64 --frames 2 --quiet || exit 9
mkfifo pipe && mkdir folder || exit 9
# 100 GB of zero bytes, of which the disk has none, and headers that are not complete before them
kinds="npy edf cbf fits tif png h5 conv npy.gz csv poni D json xye chi"
for kind in $kinds; do : >zeros.$kind; done
printf '\223NUMPY\2\0\360\377\377\377' >zeros.npy
printf '{\nDim_1 = 10 ;\n' >zeros.edf
printf '###CBF: VERSION 1.5\r\n' >zeros.cbf
printf '%-80s%-80s' 'SIMPLE  =                    T' 'BITPIX  =                   16' >zeros.fits
printf 'II*\0\10\0\0\0' >zeros.tif
printf '\211PNG\r\n\032\n' >zeros.png
printf '\211HDF\r\n\032\n' >zeros.h5
printf 'CONV NORM\n' >zeros.conv
printf '\037\213\10\0' >zeros.npy.gz
printf '#' >zeros.D
for kind in $kinds; do
    truncate -s 100G zeros.$kind 2>truncate.err || { echo "no file of 100 GB: $(cat truncate.err)" >&2; exit 77; }
done
# 2 GB beside what the libraries map; sanitizers map terabytes
limit=4000000
(ulimit -v $limit && "$airy" --version) >version 2>&1 || limit=unlimited

# one NAME ARGUMENTS...: a run, its input already in place
one() {
    (ulimit -v $limit; exec timeout 30 "$airy" "$@") >"out.$n" 2>"err.$n" </dev/null
    code=$?
    [ $code = 1 ] || [ $code = 2 ] || echo "exit code $code: $*"
    [ "$(wc -l <"err.$n")" = 1 ] || { echo "not one line: $*" && cat "err.$n"; }
    rm -f "out.$n" "err.$n"
}
n=0
# every COMMAND... with each of these in place of @
with() {
    inputs=$1
    while read -r line; do
        expect "'$line' ends soon with $inputs"
        for input in $inputs; do
            n=$((n + 1))
            # shellcheck disable=SC2046
            one $(printf '%s\n' "$line" | sed "s|@|$input|g")
        done
    done
}
with "/dev/zero pipe folder zeros.npy zeros.edf zeros.cbf zeros.fits zeros.tif zeros.png zeros.h5 zeros.conv zeros.npy.gz" <<'L'
stats @
L
with "/dev/zero pipe folder zeros.npy zeros.h5 zeros.fits" <<'L'
info @
convert @ -o o.npy
integrate @ --poni small.poni -o o.h5
view @ -o o.png
L
with "/dev/zero pipe" <<'L'
info @::/data
convert @::/d --frames 0 -o o.npy
compress @ -o o.h5
decompress @ -o o.h5
integrate small.h5 @ --poni small.poni -o o.h5
integrate @ --raw 487x195,uint32 --poni small.poni -o o.h5
integrate small.h5 --detector @ --dist 0.1 --wavelength 1e-10 -o o.h5
integrate small.h5 --poni small.poni --variance @ -o o.h5
integrate small.h5 --poni small.poni --mask @ -o o.h5
integrate small.h5 --poni small.poni --mask-only @ -o o.h5
integrate small.h5 --poni small.poni --dark @ -o o.h5
integrate small.h5 --poni small.poni --flat @ -o o.h5
integrate small.h5 --poni small.poni --absorption @ -o o.h5
integrate small.h5 --poni small.poni --config @ -o o.h5
calibrate @ --calibrant LaB6 --poni small.poni -o o.poni
calibrate i.npy --calibrant LaB6 --mask @ --poni small.poni -o o.poni
peaks @ --poni small.poni -o o.h5
peaks small.h5 --poni small.poni --mask @ -o o.h5
densify @ -o o.h5
view i.npy --mask @ -o o.png
stats i.npy --mask @
clip @
threshold @ --above 1 -o o.npy
reduce @ -o o.npy
reduce small.h5 @ -o o.npy
merge @ -o o.h5
merge r.h5 @ -o o.h5
label @ --above 1
label i.npy --above 1 --mask @
sources @
sources i.npy --kernel @
sources i.npy --mask @
sky @ --pixels 1,2
convolve @ --kernel i.npy -o o.npy
convolve i.npy --kernel @ -o o.npy
blur @ --sigma 1 -o o.npy
filter median @ -o o.npy
filter median i.npy --footprint @ -o o.npy
diff @ r.h5
diff r.h5 @
stream @ --to tcp://127.0.0.1:5999
watch @
oct m.raw --plan @ -o o.npy
oct calibrate m.raw --plan @ -o o.json
bench integrate @ --poni small.poni --seconds 1
L
# texts may come from a pipe, which is waited for: side by side
cat >texts <<'L'
plot @ -o o.png
integrate small.h5 --poni @ -o o.h5
integrate small.h5 --poni small.poni --config @ -o o.h5
calibrate i.npy --calibrant ./@ --poni small.poni -o o.poni
calibrate i.npy --calibrant LaB6 --poni @ -o o.poni
calibrate i.npy --calibrant LaB6 --guess @ --poni small.poni -o o.poni
peaks small.h5 --poni @ -o o.h5
sky s.fits --radec @
sky s.fits --pixels @
simulate diffraction d.h5 --detector pilatus_100k --curve @
simulate oct o.raw --lines 8 --samples 64 --spectrum-file @
stream small.h5 --poni @ --to tcp://127.0.0.1:5999
L
for kind in csv poni D json xye chi; do
    with zeros.$kind <texts
done
ln -s /dev/zero zero && with zero <texts
expect 'texts from a pipe without a writer end soon'
while read -r line; do
    n=$((n + 1))
    # shellcheck disable=SC2046
    one $(printf '%s\n' "$line" | sed "s|@|pipe|g") &
done <texts
wait
expect 'a pipe that never ends is read as far as its limit'
yes '# and so on' | "$airy" sky s.fits --radec /dev/stdin 2>err >out
[ $? = 1 ] && grep -q 'more than 67108864 bytes came through this pipe' err || cat err
expect 'nothing is written'
rm -rf zeros.* pipe
[ -z "$(ls o.* d.h5 2>/dev/null)" ] || ls

# The same frames in other files give the same patterns; series and patterns of names.
opts="--poni ${small%.h5}.poni --bins 100 --error-model poisson --quiet"
"$airy" integrate "$small" $opts -o want.h5 || exit
"$airy" convert "$small" -o s.npy --quiet
"$airy" convert s.npy -o s.edf --quiet
same() {
    name=$1
    shift
    "$airy" integrate "$@" $opts -o got.h5 --force && "$airy" diff want.h5 got.h5 >/dev/null && echo "$name"
}
same npy s.npy
same edf s.edf
same raw s.npy --raw 487x195,uint32,128,little
for i in 0 1 2 3 4 5 6 7; do
    tail -c +$((129 + i * 379860)) s.npy | head -c 379860 >run_$((i + 4)).bin
done
same series run_#.bin --raw 487x195,uint32
same pattern 'run_*.bin' --raw 487x195,uint32
same list run_4.bin run_5.bin run_6.bin run_7.bin run_8.bin run_9.bin run_10.bin run_11.bin --raw 487x195,uint32
"$airy" reduce 'run_*.bin' --raw 487x195,uint32 -o a.npy --quiet && "$airy" reduce "$small" -o b.npy --quiet && cmp a.npy b.npy && echo reduce
"$airy" integrate s.edf --poni "${small%.h5}.poni" --explain | grep ^geometry
"$airy" info 's.*' | head -n 1

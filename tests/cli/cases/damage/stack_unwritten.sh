# frames that were never written: of 6 frames 2 and 5 (the file says 7 where nothing is)
file=$golden/diffraction/hdf5/missing_chunk.h5::data
geometry="--pixel 1e-4,1e-4 --dist 0.1 --poni1 0.002 --poni2 0.002 --wavelength 1e-10 --no-solid-angle --quiet"
cut() { sed "s|$golden/||g"; }
for average in '' '--average all'; do
    # shellcheck disable=SC2086
    "$airy" integrate "$file" $geometry --bins 1 $average -o o.h5 --force
    echo "integrate $average: exit code $?"
done
for by in mean max median std; do
    "$airy" reduce "$file" --by $by -o $by.npy --quiet
    echo "reduce $by: exit code $?"
done
# the same of the four frames alone
"$airy" convert "$file" -o all.npy 2>&1 | cut
"$airy" convert "$file" --frames 1:3 -o some.npy 2>&1 | cut
for i in 0 1 3 4; do "$airy" convert "$file" --frames $i -o frame$i.npy --quiet; done
"$airy" reduce 'frame#.npy' --by mean -o want_mean.npy --quiet && "$airy" diff mean.npy want_mean.npy >/dev/null && echo the same mean
"$airy" reduce 'frame#.npy' --by median -o want_median.npy --quiet && "$airy" diff median.npy want_median.npy >/dev/null && echo the same median
"$airy" integrate frame0.npy frame1.npy frame3.npy frame4.npy $geometry --bins 1 --average all -o want.h5 --force
"$airy" diff o.h5::/entry/integrate/result/intensity want.h5::/entry/integrate/result/intensity >/dev/null && echo the same average
"$airy" compress "$file" c.h5 2>&1 | cut
[ -e c.h5 ] || echo no c.h5

# A scan: regions, maps of two layouts, the map as an image.
run() { "$airy" integrate "$small" --poni "${small%.h5}.poni" --bins 40 --roi 2,5 --roi 6,7 --grid 2x4 --zigzag --quiet "$@"; }
run -o one.h5 --layout threads --batch 3 && run -o two.h5 --layout serial || exit 1
for map in total roi_0 roi_1_mean; do
    "$airy" convert one.h5::/entry/integrate/map/$map -o one.npy --quiet --force
    "$airy" convert two.h5::/entry/integrate/map/$map -o two.npy --quiet --force
    cmp one.npy two.npy && "$airy" stats one.npy --json | grep -o '"count": [0-9]*, *"nan": [0-9]*\|"count": [0-9]*'
done
"$airy" view one.h5::/entry/integrate/map/roi_0 -o map.png --quiet && echo drawn

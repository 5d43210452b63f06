# The same datasets under the names of NXazint1d and NXazint2d.
opts="--poni ${small%.h5}.poni --error-model poisson --quiet --format nxazint"
"$airy" integrate "$small" $opts -o one.h5 --bins 50 || exit
"$airy" integrate "$small" $opts -o two.nxs --bins 50x12 --unit 2th_deg --polarization 0.9 || exit
for object in one.h5::/entry/data/I one.h5::/entry/data/I_errors one.h5::/entry/data/norm one.h5::/entry/data/radial_axis_edges \
    two.nxs::/entry/data/I two.nxs::/entry/data/azimuthal_axis_edges; do
    "$airy" convert "$object" -o x.npy --force 2>&1
done
"$airy" convert one.h5::/entry/data/I -o a.npy --quiet && "$airy" convert one.h5::/entry/integrate/result/intensity -o b.npy --quiet && cmp a.npy b.npy && echo same
"$airy" integrate "$small" --poni "${small%.h5}.poni" --error-model poisson --quiet -o usual.h5 --bins 50 && "$airy" diff one.h5 usual.h5 2>/dev/null | grep -c ": equal, "
"$airy" integrate "$small" $opts -o one.h5 --bins 50 --resume 2>&1
"$airy" integrate "$small" $opts -o x.h5 --unit r_mm 2>&1
"$airy" integrate "$small" $opts -o x.xye 2>&1
"$airy" integrate "$small" $opts -o x.h5 --format nexus 2>&1
echo $?

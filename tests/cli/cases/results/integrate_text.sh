# Fit2D's .chi, one table of all frames, digits enough for the same floats.
opts="--poni ${small%.h5}.poni --bins 10 --error-model poisson --quiet"
"$airy" integrate "$small" $opts --frames 2 -o a.chi || exit
sed -n 2,4p a.chi
sed 1,4d a.chi | awk '{ print NF }' | sort -u
"$airy" integrate "$small" $opts -o t.dat --one-table && grep -v '^#' t.dat | awk '{ print NF }' | sort | uniq -c
grep -c '^# Source' t.dat
"$airy" integrate "$small" $opts -o t.xy --one-table && awk '!/^#/ { print $4 }' t.xy >table
awk 'NR > 4 { print $2 }' a.chi | cmp - table && echo same
"$airy" plot a.chi -o a.svg --quiet && echo plot
"$airy" integrate "$small" $opts -o t.chi --one-table 2>&1
"$airy" integrate "$small" $opts -o t.h5 --one-table 2>&1
"$airy" integrate "$small" $opts -o t.dat --one-table 2>&1
echo $?

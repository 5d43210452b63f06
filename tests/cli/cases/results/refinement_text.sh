# text for programs that refine: what they take for a header, numbers alone behind it, ASCII
opts="--poni ${small%.h5}.poni --frames 2 --error-model poisson --quiet"
mkdir seq && cp "$small" "seq/wünsche_$(printf '%080d' 0).h5" || exit 1
long=$(echo seq/w*.h5)
# rings that no pixel is in are rows of .dat alone
for name in a.chi a.xye a.xy a.dat; do
    "$airy" integrate "$long" $opts --unit 2th_deg --bins 400 --radial-range 0,60 -o $name || exit 2
done
all=$(grep -vc '^#' a.dat) pixels=$(grep -v '^#' a.dat | grep -vc nan)
echo "$all rows, some without pixels: $([ "$pixels" -lt "$all" ] && echo yes)"
# GSAS-II: the first four lines of a .chi; one of them has "2-theta", none "q "; then pairs of numbers, as many as line 4 says
sed -n 2,3p a.chi
head -n 4 a.chi | grep -ci 'q ' && exit 3
[ "$(head -n 1 a.chi | wc -c)" -le 81 ] && [ "$(sed -n 4p a.chi)" -eq "$pixels" ] || exit 4
number='[ ]*-?[0-9]\.[0-9]+e[-+][0-9]+'
[ "$(sed 1,4d a.chi | grep -Ec "^$number$number\$")" = "$pixels" ] && [ "$(sed 1,4d a.chi | wc -l)" = "$pixels" ] || exit 5
# others: at most five lines that begin with a '#', none longer than 80, then numbers
for name in a.xye a.xy; do
    lines=$(grep -c '^#' $name)
    [ "$lines" -le 5 ] && [ "$(head -n "$lines" $name | grep -c '^#')" = "$lines" ] && ! grep -q '^.\{81\}' $name || exit 6
    [ "$(sed "1,${lines}d" $name | wc -l)" = "$pixels" ] || exit 7
done
sed '/^#/d' a.xye | grep -Evc "^$number$number$number\$"
sed '/^#/d' a.xy | grep -Evc "^$number$number\$"
# the same numbers in all, bit for bit
grep -v '^#' a.dat | grep -v nan >numbers && sed '/^#/d' a.xye | cmp - numbers && sed '/^#/d' a.xy >xy && awk '{print $1, $2}' numbers >n && awk '{print $1, $2}' xy | cmp - n &&
    sed 1,4d a.chi | cmp - xy && echo 'the same numbers'
for name in a.chi a.xye a.xy; do LC_ALL=C tr -d '\000-\177' <$name | wc -c; done
# names of units are ASCII in .dat, which keeps the configuration
for unit in 2th_deg d_A q_A^-1; do
    "$airy" integrate "$small" $opts --unit $unit --bins 20 -o $unit.dat && LC_ALL=C tr -d '\000-\177' <$unit.dat | wc -c
done
grep -c '"unit": "2th_deg"' 2th_deg.dat
# another unit is warned of, degrees of 2 theta are not
for unit in q_nm^-1 2th_deg; do
    "$airy" integrate "$small" --poni "${small%.h5}.poni" --frames 2 --unit $unit --bins 20 -o w.xy --force 2>said || exit 8
    grep -c 'degrees of 2 theta; --unit.2th_deg' said
done
"$airy" plot a.chi -o a.svg --quiet && echo plot

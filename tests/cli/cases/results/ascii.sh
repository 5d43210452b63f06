$airy integrate $small --frames 0:1 --bins 50 --error-model poisson -o one.xye --quiet || exit 1
[ "$(grep -vc '^#' one.xye)" = 50 ] && [ "$(grep -v '^#' one.xye | awk 'NF != 3' | wc -l)" = 0 ] || exit 2
grep -q '^# q_nm^-1 *I *sigma$' one.xye && [ "$(grep -c '^#' one.xye)" -le 5 ] || exit 3
$airy integrate $small --bins 50 -o many.dat --quiet && [ "$(ls many_00000?.dat | wc -l)" = 8 ] && [ ! -e many.dat ] || exit 4
$airy integrate $small --frames 0:1 --bins 50 -o one.xy --quiet && [ "$(grep -v '^#' one.xy | awk 'NF != 2' | wc -l)" = 0 ] || exit 5
# the same numbers as in the NeXus file
grep -v '^#' one.xy >a
grep -v '^#' many_000000.dat >b
cmp a b

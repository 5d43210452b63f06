# Averages and sums as text are those of the NeXus file, weighed by the monitor; --one-table has a column a group.
run() { "$airy" integrate "$small" --poni "${small%.h5}.poni" --bins 30 --error-model poisson --quiet "$@"; }
values() { grep -v '^#' "$1"; }
run -o frames.h5 --average 3 && run -o one.xye --average all && run -o part.xye --frames 0:3 --average all && run -o g.dat --average 3 || exit 1
ls g_*.dat
values part.xye >a && values g_000000.dat | cmp - a && echo average
run -o sum.xy --sum all && run -o all.h5 --sum all || exit 1
grep -c '^# Frames: 8, their sum$' sum.xy
grep '^# Source' g_000003.dat | sed 's|[^ ]*/||g'
run -o t.xy --one-table --sum 4 && grep -c '^# q_nm^-1 *I_0 I_4$' t.xy && values t.xy | awk 'NF != 3' | wc -l
run -o t4.xy --sum 4 --frames 0:4 && values t.xy | awk '{print $1, $2 + 0}' >b && values t4.xy | awk '{print $1, $2 + 0}' | cmp - b && echo table
# what a sum is: eight times the average
run -o mean.xy --average all && values mean.xy >m && values sum.xy | paste - m | awk '{d = $2 - 8 * $4; if (d < 0) d = -d; if (d > 1e-6 * $2) bad++} END {print bad + 0}'
run -o c.chi --average all && sed -n 4p c.chi | tr -d ' '

# Two halves of a run are the whole run.
run() { "$airy" integrate "$small" --poni "${small%.h5}.poni" --bins 40 --error-model azimuthal --quiet "$@"; }
run -o a.h5 --frames 0:3 && run -o b.h5 --frames 3:8 && run -o whole.h5 --average all && run -o summed.h5 --sum all || exit 1
"$airy" merge a.h5 b.h5 -o mean.h5 --average --quiet && "$airy" diff mean.h5 whole.h5 >/dev/null && echo average
"$airy" merge a.h5 b.h5 -o sum.h5 --sum --quiet && "$airy" diff sum.h5 summed.h5 >/dev/null && echo sum
"$airy" merge a.h5 b.h5 -o rows.h5 --rebin 5 --json

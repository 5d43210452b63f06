# Groups of frames: the same bits by any batch and layout, and the sums of the frames.
run() { "$airy" integrate "$small" --poni "${small%.h5}.poni" --bins 40 --error-model poisson --quiet "$@"; }
run -o one.h5 --average 3 --batch 2 --layout threads || exit 1
run -o two.h5 --average 3 --layout threads --threads 1 --batch 1 || exit 1
run -o three.h5 --average 3 --layout serial || exit 1
"$airy" diff one.h5 two.h5 --quiet >diff.txt && "$airy" diff one.h5 three.h5 --quiet >>diff.txt && echo same
run -o all.h5 --sum all || exit 1
"$airy" stats one.h5::/entry/integrate/frame/frames --json | grep -o '"sum": [0-9.]*'
"$airy" stats all.h5::/entry/integrate/frame/frames --json | grep -o '"sum": [0-9.]*'
"$airy" integrate "$small" --poni "${small%.h5}.poni" --bins 40 -o said.h5 --average 3 2>&1 | grep -e --average

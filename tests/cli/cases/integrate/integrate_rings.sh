# Bragg spots do not move clipped means or medians; the file says how it was made, and --config repeats it.
same() { "$airy" diff "$@" --quiet >/dev/null; }
run() { "$airy" integrate "$small" --poni "${small%.h5}.poni" --bins 40 --quiet "$@" || echo "failed: $*"; }
run -o clip.h5 --clip 3 --error-model azimuthal
run -o again.h5 --config clip.h5
same clip.h5 again.h5 && echo same
run -o serial.h5 --clip 3 --error-model azimuthal --layout serial
run -o threads.h5 --clip 3 --error-model azimuthal --layout threads --threads 2 --batch 1
same clip.h5 serial.h5 && same clip.h5 threads.h5 && echo same layouts
run -o other.h5 --clip 3 --error-model azimuthal && same clip.h5 other.h5 && echo same run
run -o five.h5 --clip 3,5 --error-model azimuthal && same clip.h5 five.h5 && echo five by default
run -o one.h5 --clip 3,1 --error-model azimuthal && ! same clip.h5 one.h5 && echo one differs
run -o plain.h5 --error-model azimuthal && ! same clip.h5 plain.h5 && echo clip differs
run -o hybrid.h5 --clip 0 --error-model hybrid && run -o median.h5 --quantile 50,50 && run -o part.h5 --quantile 20,80 --error-model poisson
run -o all.h5 --quantile 0,100 && same all.h5::/entry/integrate/result/intensity plain.h5::/entry/integrate/result/intensity --rtol 1e-6 && echo all
"$airy" info clip.h5::/entry/integrate/merged/count | grep -o -m 1 "8 x 40 float64"
run -o cake.h5 --bins 20x12 --clip 3 && run -o text.xye --frames 0 --clip 3 --error-model hybrid && ls text.xye
"$airy" integrate "$small" --poni "${small%.h5}.poni" --explain --clip 0 2>/dev/null | grep ^clip
"$airy" integrate "$small" --poni "${small%.h5}.poni" --explain --clip 3,7 2>/dev/null | grep ^clip
"$airy" integrate "$small" --poni "${small%.h5}.poni" --explain --quantile 50,50 2>/dev/null | grep ^quantile
"$airy" integrate "$small" --poni "${small%.h5}.poni" --explain --json --quantile 20,80 2>/dev/null | grep -c '"quantile"'
"$airy" bench integrate "$small" --seconds 0.01 --clip 3 --quiet >rows && grep -c '"name": "integrate",' rows
# refused
try() { "$airy" integrate "$small" -o x.h5 "$@" 2>&1; echo "$?"; }
try --clip 3 --quantile 50,50
try --clip -1
try --clip nan
try --clip 3,0
try --clip 3,1001
try --clip 3,1.5
try --clip 3,4,5
try --quantile 50
try --quantile 80,20
try --quantile 0,101
try --error-model hybrid
try --error-model hybrid --quantile 50,50
[ -z "$(ls x.h5* 2>/dev/null)" ]

# A detector file with corners of a plane is that plane, to the floats they are; a bent one is not. Options and PONI say the same.
close() { "$airy" diff "$@" --quiet >/dev/null; }
run() { "$airy" integrate "$small" --poni "${small%.h5}.poni" --bins 40 --unit 2th_deg --quiet "$@" || echo "failed: $*"; }
"$helper" detector plane.h5 195 487 0.000172 plane && "$helper" detector bent.h5 195 487 0.000172 bent
"$airy" info plane.h5 | sed 2q
"$airy" info --json bent.h5 | grep -c '"corners": true'
run -o registry.h5 --no-solid-angle --dummy 4294967295
run -o plane.out.h5 --detector plane.h5 --no-solid-angle --dummy 4294967295
run -o bent.out.h5 --detector bent.h5 --no-solid-angle --dummy 4294967295
close registry.h5::/entry/integrate/result/intensity plane.out.h5::/entry/integrate/result/intensity --rtol 1e-3 --atol 1e-3 && echo plane
close registry.h5::/entry/integrate/result/intensity bent.out.h5::/entry/integrate/result/intensity --rtol 1e-3 --atol 1e-3 || echo bent differs
# the PONI finds it beside itself, and --config again
mkdir there && mv bent.h5 there
sed -e 's/^Detector:.*/Detector: NexusDetector/' -e 's/^Detector_config:.*/Detector_config: {"filename": "bent.h5"}/' "${small%.h5}.poni" >there/bent.poni
"$airy" info there/bent.poni | grep detector_file
"$airy" integrate "$small" --poni there/bent.poni --bins 40 --unit 2th_deg --no-solid-angle --dummy 4294967295 --quiet -o poni.h5
close bent.out.h5::/entry/integrate/result/intensity poni.h5::/entry/integrate/result/intensity && echo same by PONI
"$airy" integrate "$small" --config poni.h5 --quiet -o again.h5 && close poni.h5 again.h5 && echo same again
"$airy" integrate "$small" --poni there/bent.poni --bins 20x12 --quiet -o cake.h5 && "$airy" info cake.h5::/entry/integrate/merged/count | grep -o -m 1 "12 x 20 float64"
run -o serial.h5 --detector there/bent.h5 --no-solid-angle --dummy 4294967295 --layout serial && close bent.out.h5::/entry/integrate/result/intensity serial.h5::/entry/integrate/result/intensity && echo same in another layout
# refused
try() { "$airy" integrate "$small" --poni "${small%.h5}.poni" -o x.h5 "$@" 2>&1; echo "$?"; }
"$helper" detector broken.h5 195 487 0.000172 broken && "$helper" detector small.h5 100 487 0.000172 plane
try --detector broken.h5
try --detector small.h5
try --detector none.h5
try --detector frelon.spline
try --detector plane.h5 --orientation 5
[ -z "$(ls x.h5* 2>/dev/null)" ]

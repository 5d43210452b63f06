# Binning, sensor, attenuation, parallax, efficiency.
close() { "$airy" diff "$@" --quiet >/dev/null; }
run() { "$airy" integrate "$small" --poni "${small%.h5}.poni" --bins 40 --quiet "$@" || echo "failed: $*"; }
run -o thin.h5
run -o silicon.h5 --sensor Si,0.00032 --parallax
run -o number.h5 --attenuation 4206.1 --sensor Xe,0.00032 --parallax
close silicon.h5::/entry/integrate/result/intensity number.h5::/entry/integrate/result/intensity --rtol 1e-3 && echo same by number
close thin.h5 silicon.h5 || echo parallax differs
run -o again.h5 --config silicon.h5
"$airy" integrate "$small" --config silicon.h5 --quiet -o config.h5 && close silicon.h5 config.h5 && echo same by --config
run -o efficiency.h5 --sensor Si,0.00032 --sensor-efficiency
close thin.h5 efficiency.h5 || echo efficiency differs
run -o thick.h5 --sensor Si --sensor-efficiency && close thin.h5 thick.h5 && echo a thick one absorbs all
sed -e 's/^poni_version:.*/poni_version: 3/' -e 's/"orientation": 3/"orientation": 3, "sensor": {"material": "Si", "thickness": 0.00032}/' "${small%.h5}.poni" >three.poni
echo "Parallax: True" >>three.poni
"$airy" info three.poni | sed -n '/parallax/,$p'
"$airy" integrate "$small" --poni three.poni --bins 40 --quiet -o three.h5 && close silicon.h5 three.h5 && echo same by PONI
# a binned detector: its mask goes with it
"$airy" simulate diffraction half.h5 --detector pilatus_1m --binning 2x2 --frames 2 --seed 3 --gaps --write-poni half.poni --quiet
"$airy" info half.poni | sed -n '/binning/,$p'
"$airy" integrate half.h5 --bins 40 --quiet -o half.out.h5 && "$airy" integrate half.h5 --poni half.poni --bins 40 --quiet -o half.poni.h5 && close half.out.h5 half.poni.h5 && echo same binned
"$airy" integrate half.h5 --detector pilatus_1m --dist 0.1 --poni1 0 --poni2 0 -o x.h5 2>&1
# refused
try() { "$airy" integrate "$small" --poni "${small%.h5}.poni" -o x.h5 "$@" 2>&1; echo "$?"; }
try --parallax
try --sensor-efficiency
try --sensor Xe,0.001 --parallax
try --sensor Si,0 --parallax
try --sensor ,1e-3
try --attenuation 0
try --attenuation -5
try --binning 2
try --binning 0x2
try --binning 2x65
try --detector pilatus_1m --binning 2x2
[ -z "$(ls x.h5* 2>/dev/null)" ]

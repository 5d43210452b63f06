# files whose own headers state other geometries; what an input lacks is named, and given alone by its option
say() { "$airy" integrate "$@" --bins 20 -o o.h5 --force --quiet && echo "taken"; }
make() { "$airy" simulate diffraction "$@" --detector pilatus_100k --poni1 0.02 --poni2 0.03 --frames 1 --quiet --force; }
make a.h5 --dist 0.1 --energy 12
make b.h5 --dist 0.2 --energy 12
make c.h5 --dist 0.1 --energy 12.1
make d.h5 --dist 0.1 --energy 12 --rot1 0.1
make e.h5 --dist 0.100001 --energy 12.0001
"$airy" simulate diffraction f.h5 --detector pilatus_100k --poni1 0.04 --poni2 0.03 --dist 0.1 --energy 12 --frames 1 --quiet
for other in b c d e f; do say a.h5 $other.h5; done
say a.h5 b.h5 --dist 0.1
say a.h5 c.h5 --energy 12
say a.h5 b.h5 --poni $(dirname $small)/small.poni
"$airy" peaks a.h5 b.h5 -o p.h5 --quiet
edf() { printf '{\nDim_1 = 4 ;\nDim_2 = 4 ;\nDataType = UnsignedByte ;\n%b}\nabcdefghijklmnop' "$2" >"$1"; }
edf whole.edf 'PSize_1 = 1e-4 ;\nPSize_2 = 1e-4 ;\nSampleDistance = 0.1 ;\nCenter_1 = 1 ;\nCenter_2 = 2 ;\nWaveLength = 1e-10 ;\n'
edf far.edf 'PSize_1 = 1e-4 ;\nPSize_2 = 1e-4 ;\nSampleDistance = 0.2 ;\nCenter_1 = 1 ;\nCenter_2 = 2 ;\nWaveLength = 1e-10 ;\n'
edf zero.edf 'PSize_1 = 1e-4 ;\nPSize_2 = 1e-4 ;\nSampleDistance = 0 ;\nCenter_1 = 1 ;\nCenter_2 = 2 ;\nWaveLength = 1e-10 ;\n'
edf corner.edf 'PSize_1 = 1e-4 ;\nPSize_2 = 1e-4 ;\nSampleDistance = 0.1 ;\nCenter_1 = 0 ;\nCenter_2 = 0 ;\nWaveLength = 1e-10 ;\n'
edf pixel.edf 'SampleDistance = 0.1 ;\nCenter_1 = 1 ;\nCenter_2 = 2 ;\nWaveLength = 1e-10 ;\n'
edf wave.edf 'PSize_1 = 1e-4 ;\nPSize_2 = 1e-4 ;\nSampleDistance = 0.1 ;\nCenter_1 = 1 ;\nCenter_2 = 2 ;\n'
say whole.edf far.edf
say zero.edf
say corner.edf
say pixel.edf
say wave.edf
# each completed, with the numbers of the whole one
"$airy" integrate whole.edf --bins 5 -o whole.xy --quiet
one() { "$airy" integrate "$@" --bins 5 -o one.xy --force --quiet && grep -v '^#' one.xy | cmp - want && echo same; }
grep -v '^#' whole.xy >want
one zero.edf --dist 0.1
one corner.edf --poni1 2e-4 --poni2 1e-4
one pixel.edf --pixel 1e-4,1e-4
one wave.edf --wavelength 1e-10
# a file that comes later
cp whole.edf run_1.edf
(sleep 0.5; cp far.edf run_2.edf) &
"$airy" integrate 'run_*.edf' --follow --poll 0.1 --follow-timeout 8 --bins 5 -o g.h5 --quiet
echo "followed $?"
wait

# files whose own headers state other geometries; what an input lacks is named, and given alone by its option
. "$cli/check.sh"
say() { expect "$1"; shift; "$airy" integrate "$@" --bins 20 -o o.h5 --force --quiet && echo "taken"; }
make() { "$airy" simulate diffraction "$@" --detector pilatus_100k --poni1 0.02 --poni2 0.03 --frames 1 --quiet --force; }
make a.h5 --dist 0.1 --energy 12
make b.h5 --dist 0.2 --energy 12
make c.h5 --dist 0.1 --energy 12.1
make d.h5 --dist 0.1 --energy 12 --rot1 0.1
make e.h5 --dist 0.100001 --energy 12.0001
"$airy" simulate diffraction f.h5 --detector pilatus_100k --poni1 0.04 --poni2 0.03 --dist 0.1 --energy 12 --frames 1 --quiet
say 'another distance is named' a.h5 b.h5
say 'another wavelength is named' a.h5 c.h5
say 'another angle of the detector is named' a.h5 d.h5
say 'rounded values are the same geometry' a.h5 e.h5
say 'another beam centre is named' a.h5 f.h5
say 'a distance by its option is that of all files' a.h5 b.h5 --dist 0.1
say 'an energy by its option is that of all files' a.h5 c.h5 --energy 12
say 'a geometry by its option is that of all files' a.h5 b.h5 --poni $(dirname $small)/small.poni
expect 'peaks names another distance'
"$airy" peaks a.h5 b.h5 -o p.h5 --quiet
edf() { printf '{\nDim_1 = 4 ;\nDim_2 = 4 ;\nDataType = UnsignedByte ;\n%b}\nabcdefghijklmnop' "$2" >"$1"; }
edf whole.edf 'PSize_1 = 1e-4 ;\nPSize_2 = 1e-4 ;\nSampleDistance = 0.1 ;\nCenter_1 = 1 ;\nCenter_2 = 2 ;\nWaveLength = 1e-10 ;\n'
edf far.edf 'PSize_1 = 1e-4 ;\nPSize_2 = 1e-4 ;\nSampleDistance = 0.2 ;\nCenter_1 = 1 ;\nCenter_2 = 2 ;\nWaveLength = 1e-10 ;\n'
edf zero.edf 'PSize_1 = 1e-4 ;\nPSize_2 = 1e-4 ;\nSampleDistance = 0 ;\nCenter_1 = 1 ;\nCenter_2 = 2 ;\nWaveLength = 1e-10 ;\n'
edf corner.edf 'PSize_1 = 1e-4 ;\nPSize_2 = 1e-4 ;\nSampleDistance = 0.1 ;\nCenter_1 = 0 ;\nCenter_2 = 0 ;\nWaveLength = 1e-10 ;\n'
edf pixel.edf 'SampleDistance = 0.1 ;\nCenter_1 = 1 ;\nCenter_2 = 2 ;\nWaveLength = 1e-10 ;\n'
edf wave.edf 'PSize_1 = 1e-4 ;\nPSize_2 = 1e-4 ;\nSampleDistance = 0.1 ;\nCenter_1 = 1 ;\nCenter_2 = 2 ;\n'
say 'the distance of another EDF file is named' whole.edf far.edf
say 'a distance of 0 is missing' zero.edf
say 'a beam centre in the corner is missing' corner.edf
say 'a pixel size that is not there is missing' pixel.edf
say 'a wavelength that is not there is missing' wave.edf
# each completed, with the numbers of the whole one
expect 'a whole header is a geometry'
"$airy" integrate whole.edf --bins 5 -o whole.xy --quiet
one() { expect "$1"; shift; "$airy" integrate "$@" --bins 5 -o one.xy --force --quiet && grep -v '^#' one.xy | cmp - want && echo same; }
grep -v '^#' whole.xy >want
one 'a distance completes a geometry' zero.edf --dist 0.1
one 'a beam centre completes a geometry' corner.edf --poni1 2e-4 --poni2 1e-4
one 'a pixel size completes a geometry' pixel.edf --pixel 1e-4,1e-4
one 'a wavelength completes a geometry' wave.edf --wavelength 1e-10
expect 'another geometry of a file that comes later ends the run'
cp whole.edf run_1.edf
(sleep 0.5; cp far.edf run_2.edf) &
"$airy" integrate 'run_*.edf' --follow --poll 0.1 --follow-timeout 8 --bins 5 -o g.h5 --quiet
echo "followed $?"
wait

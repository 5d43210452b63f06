# What the header of a single frame says of its geometry; none where there is nothing.
edf() { { printf '{\nByteOrder = LowByteFirst ;\nDataType = UnsignedByte ;\nDim_1 = 8 ;\nDim_2 = 8 ;\nSize = 64 ;\n%b' "$1" | awk '{ print; n += length($0) + 1 } END { printf "%" (510 - n) "s}\n", "" }'; head -c 64 /dev/zero; } ; }
edf 'PSize_1 = 1e-4 ;\nPSize_2 = 1e-4 ;\nSampleDistance = 0.1 ;\nCenter_1 = 4 ;\nCenter_2 = 4 ;\nWaveLength = 1e-10 ;\n' >with.edf
edf '' >without.edf
"$airy" info with.edf | grep -v '^  *\(memory\|device\)'
"$airy" info with.edf --json | grep -c '"dist": 0.1'
"$airy" info without.edf
head -c 64 /dev/zero >frame.bin
"$airy" info frame.bin 2>&1; echo "$?"

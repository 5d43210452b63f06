# What a header states and Airy does not apply is named, once by each command.
cbf() { # FILE, line
    { printf '###CBF: VERSION 1.5\r\ndata_x\r\n_array_data.header_contents\r\n;\r\n# Pixel_size 1e-4 m x 1e-4 m\r\n# Beam_xy (3.0, 2.0) pixels\r\n# Detector_distance 0.1 m\r\n# Wavelength 1.0 A\r\n%s\r\n;\r\n\r\n' "$2"
      printf 'conversions="x-CBF_BYTE_OFFSET"\r\nX-Binary-Size: 48\r\nX-Binary-Element-Type: "signed 32-bit integer"\r\nX-Binary-Size-Fastest-Dimension: 8\r\nX-Binary-Size-Second-Dimension: 6\r\n\r\n\014\032\004\325'
      printf '\001%.0s' $(seq 48); } >"$1"
}
edf() { # FILE, line
    { printf '{\nDataType = UnsignedByte ;\nDim_1 = 8 ;\nDim_2 = 8 ;\nPSize_1 = 1e-4 ;\nPSize_2 = 1e-4 ;\nSampleDistance = 0.1 ;\nCenter_1 = 4 ;\nCenter_2 = 4 ;\nWaveLength = 1e-10 ;\n%s ;\n}\n' "$2"; head -c 64 /dev/zero; } >"$1"
}
cbf high.cbf "# Detector_Voffset 0.01 m"
cbf level.cbf "# Detector_Voffset 0.0 m"
edf turned.edf "RasterOrientation = 2"
edf straight.edf "RasterOrientation = 1"
for file in high.cbf level.cbf turned.edf straight.edf; do
    $airy integrate $file --bins 2 --quiet -o $file.h5
done
cp "$small" scaled.h5
$helper number scaled.h5 /entry/data/data@scale_factor 0.5
cp scaled.h5 moved.h5
$helper number moved.h5 /entry/data/data@add_offset 10
cp "$small" one.h5
$helper number one.h5 /entry/data/data@scale_factor 1
$airy integrate scaled.h5 --bins 2 --quiet -o r.h5
for file in moved one; do
    $airy stats $file.h5 --quiet >/dev/null
    $airy convert $file.h5 --frames 0 -o $file.edf --quiet
    $airy view $file.h5 -o $file.png --quiet
    $airy reduce $file.h5 -o $file.npy --quiet
done

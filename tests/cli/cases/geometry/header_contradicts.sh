# A header that states two values of one thing: none is taken, both are named, and an option decides.
cbf() { # FILE, lines
    { printf '###CBF: VERSION 1.5\r\ndata_x\r\n_array_data.header_contents\r\n;\r\n# Pixel_size 1e-4 m x 1e-4 m\r\n# Beam_xy (3.0, 2.0) pixels\r\n'
      printf '%s\r\n' "$2"
      printf ';\r\n\r\nconversions="x-CBF_BYTE_OFFSET"\r\nX-Binary-Size: 48\r\nX-Binary-Element-Type: "signed 32-bit integer"\r\nX-Binary-Size-Fastest-Dimension: 8\r\nX-Binary-Size-Second-Dimension: 6\r\n\r\n\014\032\004\325'
      printf '\001%.0s' $(seq 48); } >"$1"
}
cr=$(printf '\r')
same="# Detector_distance 0.1 m$cr
# Wavelength 1.0 A$cr
# Photon_energy 12.398 keV"
cbf same.cbf "$same"
cbf energy.cbf "# Detector_distance 0.1 m$cr
# Wavelength 1.0 A$cr
# Photon_energy 9000 eV"
cbf dist.cbf "$same$cr
# Detector_distance 0.2 m"
run() { "$airy" integrate "$@" --bins 2 --quiet --force -o o.h5; echo "$?"; }
run same.cbf
run energy.cbf
run energy.cbf --wavelength 1e-10
run energy.cbf --energy 9
run dist.cbf
run dist.cbf --dist 0.1
run same.cbf energy.cbf
"$airy" info energy.cbf | grep contradicts
"$airy" info dist.cbf | grep contradicts
"$airy" convert energy.cbf -o energy.edf --quiet
grep -c -a WaveLength energy.edf
exit 0

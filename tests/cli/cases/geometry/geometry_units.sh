# Degrees, millimetres and Angstrom in the place of SI units are refused or reported, from a file as from an option.
poni() { printf 'poni_version: 2\nDetector: Pilatus100k\nDetector_config: {}\nDistance: %s\nPoni1: 0.01\nPoni2: 0.02\nRot1: %s\nRot2: 0\nRot3: 0\nWavelength: %s\n' "$2" "$3" "$4" >"$1.poni"; }
poni deg 0.1 30 1e-10
poni mm 100 0 1e-10
poni nm 0.1 0 1e-7
sed 's/Detector_config: {}/Detector_config: {"pixel1": 0.172, "pixel2": 0.172}/' nm.poni >pixel.poni
run() { "$airy" integrate "$small" --frames 0 "$@" --bins 2 --force -o o.h5 2>&1 | grep -v 'set-up'; }
run --poni deg.poni
run --poni mm.poni
run --poni nm.poni
run --poni pixel.poni
run --poni mm.poni --dist 0.1
run --poni mm.poni --dist 0.1 --rot1 30
run --detector Pilatus100k --dist 60 --poni1 0 --poni2 0 --wavelength 1e-10
exit 0

cat >a.poni <<'PONI'
# a comment
poni_version: 2.1
Detector: Pilatus100k
Detector_config: {"orientation": 3}
Distance: 0.1
Poni1: 0.01
Poni2: 0.02
Rot1: 0
Rot2: -0.5
Rot3: 1e-5
PONI
$airy info a.poni

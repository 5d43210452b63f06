# a PONI file that knows neither shape nor wavelength: null
printf 'poni_version: 2.1\nDetector: Detector\nDetector_config: {"pixel1": 1e-4, "pixel2": 1e-4}\nDistance: 0.1\nPoni1: 0\nPoni2: 0\nRot1: 0\nRot2: 0\nRot3: 0\n' >a.poni
$airy info a.poni >text || exit 1
grep -q '"shape": null' text && grep -q '"wavelength": null' text

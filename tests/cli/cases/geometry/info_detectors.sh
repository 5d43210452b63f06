$airy info --detectors | grep -q '^Pilatus 100k  *195 x 487  *pixels of 172 x 172 um$' && $airy info --detectors --json | grep -q '"name": "Pilatus 100k"'

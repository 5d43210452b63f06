# a master file with two linked data files, mask and geometry of its own; no wavelength, so degrees
$airy info $golden/diffraction/hdf5/series_master.h5 >text || exit 1
grep -q '6 frames of 37 x 44 uint32' text && grep -q 'pixel mask in the file' text && grep -q 'wavelength unknown' text || exit 2
$airy integrate $golden/diffraction/hdf5/series_master.h5 --unit 2th_deg --bins 30 -o all.h5 --quiet || exit 3
$airy integrate $golden/diffraction/hdf5/series_data_000002.h5 --unit 2th_deg --bins 30 --pixel 75e-6,75e-6 --dist 0.12 --poni1 0 --poni2 0 \
    -o second.h5 --quiet || exit 4
$airy integrate $golden/diffraction/hdf5/series_master.h5 --unit 2th_deg --bins 30 --poni1 0 --poni2 0 --pixel 75e-6,75e-6 --frames 3: \
    --mask-only $golden/diffraction/hdf5/series_master.h5::/entry/instrument/detector/pixel_mask -o masked.h5 --quiet || exit 5
! $airy diff second.h5 masked.h5 >/dev/null || exit 6
$airy compress $golden/diffraction/hdf5/series_master.h5 one.h5 --quiet && $airy diff one.h5 $golden/diffraction/hdf5/series_master.h5 >/dev/null ||
    exit 7
# geometry and mask go with the copy
$airy integrate one.h5 --unit 2th_deg --bins 30 -o copy.h5 --quiet && $airy diff all.h5 copy.h5 >/dev/null

# A master whose data files have a hole, or are not all there, or whose frames have another shape, is reported.
cp "$small" source.h5
$helper series whole source.h5 2 8
$helper series hole source.h5 2 8
$helper unlink hole.h5 /entry/data/data_000002
$helper unlink hole.h5 /entry/data/data_000003
$helper series short source.h5 2 20
$helper series shape source.h5 4 8
$helper number shape.h5 /entry/instrument/detector/detectorSpecific/x_pixels_in_detector 487
$helper number shape.h5 /entry/instrument/detector/detectorSpecific/y_pixels_in_detector 190
cp shape.h5 fits.h5
for i in 1 2; do cp shape_$i.h5 fits_$i.h5; done
$helper unlink fits.h5 /entry/instrument/detector/detectorSpecific/y_pixels_in_detector
$helper number fits.h5 /entry/instrument/detector/detectorSpecific/y_pixels_in_detector 195
for master in whole hole short shape fits; do
    $airy integrate $master.h5 --poni "${small%.h5}.poni" --bins 2 --quiet -o $master.out.h5
done
$airy integrate short.h5::/entry/data/data_000001 --poni "${small%.h5}.poni" --bins 2 --quiet -o one.h5
$airy integrate short.h5 --follow --follow-timeout 0.2 --poll 0.05 --poni "${small%.h5}.poni" --bins 2 --quiet -o follow.h5; echo "$?"

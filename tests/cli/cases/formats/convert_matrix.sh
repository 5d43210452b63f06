# Everything that a format holds comes back from it; what it does not hold is refused. The last column: formats that hold it.
version=$($airy --version --verbose)
formats="npy h5 edf png cbf"
case $version in *"fits: cfitsio"*) formats="$formats fits" ;; esac
case $version in *"tiff: libtiff"*) formats="$formats tif" ;; esac
[ "$formats" = "npy h5 edf png cbf fits tif" ] || { echo "without CFITSIO or libtiff" >&2; exit 77; }
for dtype in uint8 uint16 uint32 int32 float32; do
    $airy simulate diffraction $dtype.h5 --detector pilatus_100k --frames 2 --dtype $dtype --quiet
    $airy convert $dtype.h5 -o $dtype.3d.npy --quiet
    $airy convert $dtype.3d.npy -o $dtype.3d.edf --quiet
done
$airy simulate diracs float64.npy --size 32 --quiet
$airy simulate sky float32.npy --height 20 --width 30 --quiet
$airy threshold float32.npy --above 0 -o uint8.npy --quiet
$airy label uint8.npy --above 0 -o int32.npy --quiet >/dev/null
for image in uint8.npy int32.npy float32.npy float64.npy uint16.3d.npy float32.3d.npy; do
    line=$image:
    for format in $formats; do
        if $airy convert $image -o out.$format --force --quiet 2>why; then
            $airy convert out.$format -o back.npy --force --quiet && cmp -s $image back.npy && line="$line $format"
        else
            grep -q "holds" why || cat why
        fi
    done
    echo "$line"
done

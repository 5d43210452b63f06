# a picture that does not fit: its name and the reason are said, and nothing is left
case $($airy --version --verbose) in *"tiff: libtiff"*) ;; *) echo "no libtiff" >&2; exit 77 ;; esac
$airy simulate sky a.npy --height 256 --width 256 --quiet
(trap '' XFSZ; ulimit -f 8; $airy convert a.npy -o a.tif --quiet; echo $?; $airy filter hampel a.npy -o b.tif --device cpu --quiet; echo $?)
ls

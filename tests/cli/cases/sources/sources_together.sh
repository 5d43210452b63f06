# Outputs appear together: where one of them cannot be written, none is there.
$airy simulate sky sky.npy --height 64 --width 64 --sources 3 --quiet || exit 1
mkdir shut
$airy sources sky.npy --catalog c.csv --segmentation shut/s.npy --quiet >/dev/null || exit 1
rm c.csv shut/s.npy
( ulimit -f 8; exec $airy sources sky.npy --catalog c.csv --regions r.reg --segmentation s.npy --quiet 2>err >out )
echo $?
sed 's/:.*//; s/; .*//' err
ls

# a job on two devices: its results lie as far apart, and only the first device's file is there
$airy simulate diffraction s.h5 --detector Pilatus100k --dist 0.1 --wavelength 1e-10 --frames 9 --quiet
$airy reduce s.h5 -o c.npy --by std --compare cpu,cpu | grep -e '"output"' -e '"name"' -e '"values"' -e '"ulp"' -e '"device"' && ls -A
$airy reduce s.h5 -o c.npy --compare cpu,cpu; echo $?
$airy reduce s.h5 -o d.npy --compare cpu,nothing >/dev/null; echo $?
$airy reduce s.h5 -o d.npy --compare cpu,cpu --device cpu; echo $?
$airy reduce s.h5 -o d.npy --compare cpu,; echo $?
$airy reduce s.h5 --hot 6 -o d.npy --compare cpu,cpu 2>&1 | grep -c -e first_seconds -e '"name"'
ls -A

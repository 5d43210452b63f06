# What is no stack, each in one line.
"$airy" convert "$small" -o s.npy --quiet
head -c 1000 s.npy >cut.npy
printf 'text' >x.cbf
try() { "$airy" integrate "$@" --poni "${small%.h5}.poni" -o x.h5 --quiet 2>&1; echo "$?"; }
try 'none_*.cbf'
try none_##.cbf
try cut.npy
try x.cbf
try s.npy --raw 487x195,uint32
try s.npy --raw 487x195,uint32,200
try s.npy --raw 487x195
try s.npy --raw 487,uint32
try s.npy --raw 487x195,uint33
try s.npy --raw 487x195,uint32,big,little
try s.npy --raw 0x195,uint32
try s.npy --monitor /entry/monitor
try s.npy s.npy missing.edf
"$airy" convert s.npy -o i.fits --quiet
try s.npy x.cbf
# who differs, and from which file; a folder
rm x.h5.partial
"$airy" simulate kernel k.npy --quiet
try i.fits k.npy
try k.npy i.fits
try .
"$airy" integrate s.npy --poni "${small%.h5}.poni" --detector pilatsu -o x.h5 2>&1; echo "$?"

# What is no stack, each in one line.
. "$cli/check.sh"
"$airy" convert "$small" -o s.npy --quiet
head -c 1000 s.npy >cut.npy
printf 'text' >x.cbf
try() { expect "$1"; shift; "$airy" integrate "$@" --poni "${small%.h5}.poni" -o x.h5 --quiet 2>&1; echo "$?"; }
try 'a pattern without a file is refused' 'none_*.cbf'
try 'a pattern of numbers without a file is refused' none_##.cbf
try 'an NPY file that was cut off is refused' cut.npy
try 'a text is no CBF file' x.cbf
try 'a file of raw frames has whole frames' s.npy --raw 487x195,uint32
try 'a file of raw frames has whole frames behind its offset' s.npy --raw 487x195,uint32,200
try 'raw frames need a dtype' s.npy --raw 487x195
try 'raw frames need two sizes' s.npy --raw 487,uint32
try 'raw frames need a known dtype' s.npy --raw 487x195,uint33
try 'raw frames have one byte order' s.npy --raw 487x195,uint32,big,little
try 'raw frames have a size of at least 1' s.npy --raw 0x195,uint32
try 'a monitor needs an HDF5 file' s.npy --monitor /entry/monitor
try 'a file of several that is not there is named' s.npy s.npy missing.edf
"$airy" convert s.npy -o i.fits --quiet
try 'a file of several that cannot be read is named with its frames' s.npy x.cbf
# who differs, and from which file; a folder
rm x.h5.partial
"$airy" simulate kernel k.npy --quiet
try 'frames of another size are named' i.fits k.npy
try 'frames of another size are named in the other order' k.npy i.fits
try 'a folder is no stack' .
expect 'a misspelt detector is recognized'
"$airy" integrate s.npy --poni "${small%.h5}.poni" --detector pilatsu -o x.h5 2>&1; echo "$?"

# values that detectors write into gaps: named where nothing names the detector, left out where the file does
said() { awk '!/^#/{print $2 + 0}' $1; grep gaps err || echo nothing; }
raw() { printf "$1" >x.raw; shift; "$airy" integrate x.raw --raw "$@" --pixel 1e-4,1e-4 --dist 0.1 --poni1 0 --poni2 0 --unit r_mm --bins 1 --no-solid-angle -o x.xy --force 2>err && said x.xy; }
raw '\012\377\012\377' 2x2,uint8
raw '\012\0\377\377\012\0\012\0' 2x2,uint16
raw '\012\0\0\0\377\377\377\377' 2x1,uint32
raw '\012\0\0\0\377\377\377\377' 2x1,int32
raw '\012\0\0\0\376\377\377\377' 2x1,uint32
raw '\012\0\0\0\376\377\377\377' 2x1,int32 --dummy=-2
raw '\012\0\0\0\012\0\0\0' 2x1,uint32
cbf() { printf '###CBF: VERSION 1.5\r\ndata_x\r\n_array_data.header_contents\r\n;\r\n# Detector: %s\r\n;\r\n\r\nconversions="x-CBF_BYTE_OFFSET"\r\nX-Binary-Size: 2\r\nX-Binary-Element-Type: "signed 32-bit integer"\r\nX-Binary-Size-Fastest-Dimension: 2\r\nX-Binary-Size-Second-Dimension: 1\r\n\r\n\014\032\004\325\012\365' "$1" >c.cbf; }
printf 'Detector: Detector\nDetector_config: {"pixel1": 1e-4, "pixel2": 1e-4, "max_shape": [1, 2]}\nDistance: 0.1\n' >c.poni
for name in 'PILATUS 2M, S/N 24-0107' 'MYTHEN'; do
    cbf "$name"
    "$airy" integrate c.cbf --poni c.poni --unit r_mm --bins 1 --no-solid-angle -o c.xy --force 2>err && said c.xy
done
# not in the first frame: the result tells which ones have them, or some frames are read
stack() { printf "$1" >s.raw; shift; "$airy" "$@" --pixel 1e-4,1e-4 --dist 0.1 --poni1 0 --poni2 0 --force 2>err; grep gaps err || echo nothing; }
flat='--unit r_mm --bins 1 --no-solid-angle'
late='\012\0\012\0\012\0\377\377\012\0\377\377\377\377\377\377'
stack $late integrate s.raw --raw 2x1,uint16 $flat -o s.h5
stack $late integrate s.raw --raw 2x1,uint16 $flat -o s.xy
stack $late integrate s.raw --raw 2x1,uint16 $flat --average 2 -o s.h5
stack $late integrate s.raw --raw 2x1,uint16 $flat --frames 0 -o s.h5
stack $late integrate s.raw --raw 2x1,uint16 $flat --frames 3 -o s.h5
stack $late integrate s.raw --raw 2x1,uint16 $flat --mask-saturated -o s.h5
stack '\012\0\0\0\012\0\0\0\012\0\0\0\376\377\377\377' integrate s.raw --raw 2x1,int32 $flat -o s.h5
# the container does not count
{ printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 2)}"; printf '\012\0\377\377\012\0\012\0'; } >x.npy
for e in npy tif edf h5; do
    [ $e = npy ] || "$airy" convert x.npy -o x.$e --quiet
    "$airy" integrate x.$e --pixel 1e-4,1e-4 --dist 0.1 --poni1 0 --poni2 0 --unit r_mm --bins 1 -o y.h5 --force 2>&1 | grep gaps
    "$airy" stats x.$e 2>&1 >/dev/null | grep gaps
done
exit 0

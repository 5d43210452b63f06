# frames in memory to chunks and to a file; nothing stays behind
mkdir room || exit 1
TMPDIR=$PWD/room $airy bench write $small --seconds 0.01 --threads 2 --quiet >rows || exit 2
for row in encode 'encode bandwidth, decoded' write 'write, 2 files' 'compression ratio'; do
    grep -q "\"name\": \"$row\"" rows || exit 3
done
[ -z "$(ls room)" ]
# the host works, whatever device is named, even one that is not there
AIRY_DEVICE=opencl:99:99 TMPDIR=$PWD/room $airy bench write $small --seconds 0.01 --threads 2 --quiet >rows || exit 4
[ "$(grep -c '"device": "cpu"' rows)" = "$(grep -c '"name"' rows)" ]

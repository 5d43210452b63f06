# frames in memory to chunks and to a file; nothing stays behind
mkdir room || exit 1
TMPDIR=$PWD/room $airy bench write $small --seconds 0.01 --threads 2 --quiet >rows || exit 2
for row in encode 'encode bandwidth, decoded' write 'write, 2 files' 'compression ratio'; do
    grep -q "\"name\": \"$row\"" rows || exit 3
done
[ -z "$(ls room)" ]
# the host works, whatever device is named, even one that is not there
TMPDIR=$PWD/room $airy bench write $small --device opencl:99:99 --seconds 0.01 --threads 2 >rows 2>said || exit 4
grep -q -e '--device opencl:99:99 does not matter to write, which the host does' said || exit 5
[ "$(grep -c '"device": "cpu"' rows)" = "$(grep -c '"name"' rows)" ]

# every output beside every input, and beside each other; nothing is touched
$airy simulate kernel kk.npy --size 5 --quiet && $airy simulate diracs im.npy --size 32 --quiet || exit 1
cp kk.npy m.npy && cp ${small%.h5}.poni g.poni && cp $small a.h5 && cksum ./* >../before || exit 1
try() { want=$1; shift; "$airy" "$@" >../said 2>&1; code=$?; [ $code = $want ] || { echo "$code: $*"; cat ../said; }; }
try 1 convolve im.npy --kernel kk.npy -o kk.npy --force
try 1 convolve im.npy --kernel kk.npy -o out.npy --profile=./kk.npy --force
try 1 stats im.npy --mask m.npy --profile=m.npy --force
try 1 stats im.npy --profile=m.npy
try 1 clip im.npy --profile=im.npy --force
try 1 integrate $small --profile=g.poni --frames 0 -o n.xy
try 2 integrate $small --poni g.poni --plot g.poni --frames 0 -o n.xy --force
try 1 threshold im.npy --above 0 -o m.npy
try 2 label im.npy --table m.npy
try 1 blur im.npy --sigma 1 -o ./im.npy --force
try 2 simulate diffraction y.h5 --frames 1 --write-poni y.h5
try 2 simulate diffraction y.h5 --frames 1 --write-poni "$PWD/y.h5" --force
try 2 label im.npy --table lab.npy -o lab.npy
try 2 label im.npy --table a.h5 -o ./a.h5 --force
try 2 integrate $small -o y.h5 --profile=y.h5.partial
try 2 label im.npy --table -
cksum ./* >../after && cmp ../before ../after && $airy stats im.npy --profile=m.npy --force >../said && grep -q median_ms m.npy && echo kept
# a link is replaced, and what it leads to stays, whoever writes; none is that leads to what a process has open
for to in out.npy out.h5 out.csv out.json nowhere.json; do ln -s ../kept/$to link.$to; done
mkdir ../kept && for to in out.npy out.h5 out.csv out.json; do echo mine >../kept/$to; done
$airy convert im.npy -o link.out.npy --quiet 2>../said && echo replaced without --force
$airy convert im.npy -o link.out.npy --quiet --force && $airy convert im.npy -o link.out.h5 --quiet --force &&
    $airy label im.npy --table link.out.csv --profile=link.out.json --quiet --force >../said && $airy stats im.npy --profile=link.nowhere.json --force >../said
for to in out.npy out.h5 out.csv out.json nowhere.json; do [ -L link.$to ] && echo "link.$to is one still"; done
[ ! -e ../kept/nowhere.json ] && [ "$(cat ../kept/*)" = "$(for i in 1 2 3 4; do echo mine; done)" ] && echo kept
ln -s /proc/self/fd/2 open.json && ln -s open.json again.json || exit 1
for to in open.json again.json /dev/fd/2; do $airy stats im.npy --profile=$to --force 2>../said; [ $? = 1 ] && sed 's/; .*//' ../said; done
[ -L open.json ] && [ -L again.json ] && echo kept

# reduce runs as other commands on stacks do: a range of frames, damaged ones, a limit of memory, a profile, Ctrl-C
. "$cli/check.sh"
. "$cli/await.sh"
$airy simulate diffraction s.h5 --detector pilatus_100k --frames 12 --seed 7 --quiet || exit 1
cp s.h5 bad.h5
$helper damage bad.h5 /entry/data/data 2 flip
$helper damage bad.h5 /entry/data/data 6 truncate
for i in 1 4 7; do $airy convert s.h5 --frames $i -o f$i.npy --quiet; done
for i in 0 1 3 4 5 7 8 9 10 11; do $airy convert s.h5 --frames $i -o g$i.npy --quiet; done
same() { $airy diff "$1" "$2" --rtol 1e-13 >/dev/null && echo same || echo differ; }
for by in mean sum max min median std; do
    expect "a range of frames is reduced to its $by"
    $airy reduce s.h5 --frames 1:10:3 --by $by -o range_$by.npy --quiet
    $airy reduce f1.npy f4.npy f7.npy --by $by -o want_$by.npy --quiet
    same range_$by.npy want_$by.npy
    expect "damaged frames are left out of a $by where that was asked for"
    $airy reduce bad.h5 --by $by --on-error skip -o skip_$by.npy; echo $?
    $airy reduce g?.npy g1?.npy --by $by -o good_$by.npy --quiet
    same skip_$by.npy good_$by.npy
done
expect 'a median of several passes leaves the same frames out'
$airy reduce bad.h5 --by median --on-error skip --memory-limit 2500k --threads 1 -o passes.npy; echo $?
same passes.npy good_median.npy
expect 'each frame that is left out has a message of its own'
$airy reduce bad.h5 --on-error skip -o m.npy --verbose 2>&1 | grep -o 'frame [0-9] was left out'
expect 'a damaged frame ends a run, and nothing is written'
$airy reduce bad.h5 -o stop.npy --quiet; echo $?
$airy reduce bad.h5 --by median -o stop.npy --quiet; echo $?
[ -e stop.npy ] || echo none
expect 'a range without a good frame ends a run'
$airy reduce bad.h5 --frames 2:7:4 --on-error skip -o none.npy --quiet; echo $?
expect 'frames beyond the stack are refused'
$airy reduce s.h5 --frames 3:13 -o none.npy; echo $?
expect 'a word for errors is one of two'
$airy reduce s.h5 --on-error go -o none.npy; echo $?
expect 'hot pixels are those of the range'
$airy reduce bad.h5 --frames 3:6 --hot 6 -o hot.npy --json | grep frames
expect 'a limit of memory that is too small is named'
$airy reduce s.h5 --memory-limit 1M -o none.npy --quiet; echo $?
expect 'a profile has the loops of a run'
$airy reduce s.h5 -o p.npy --quiet --profile=p.json && grep -c '"project"' p.json
expect 'Ctrl-C ends a median, and nothing is written'
: >err
$airy reduce s.h5 --by median -o out.npy --memory-limit 2025k --threads 1 --verbose 2>err &
id=$!
await grep -q 'pass 2 of' err && await catches $id && kill -INT $id
wait $id; echo $?
sed -n 's/pass [0-9]* of/pass N of/; s/after [0-9]* of/after N of/; /cancelled/p' err
[ -e out.npy ] || echo none

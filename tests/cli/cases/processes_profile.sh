# the profile of each worker, and --config, --monitor and --mask reach them
$airy integrate $small --layout processes --processes 2 --profile -o a.h5 --quiet 2>table || exit 1
grep -q '^worker 1 of 2' table && grep -q '^worker 2 of 2' table || { cat table >&2; exit 2; }
$airy integrate $small --layout processes --processes 2 --profile=p.json -o a.h5 --force --quiet || exit 3
grep -q '"worker": 1' p.json && grep -q '"worker": 2' p.json || exit 4
cp $small m.h5
$helper monitor m.h5 /entry/monitor 8
$helper image mask.h5 195 487 0
$airy integrate m.h5 --monitor /entry/monitor --mask mask.h5 --bins 77 --unit 2th_deg --dummy=-10 -o b.h5 --quiet || exit 5
$airy integrate m.h5 --config b.h5 --layout processes --processes 3 -o c.h5 --quiet || exit 6
$airy diff b.h5 c.h5 >/dev/null || exit 7
$airy integrate m.h5 --config c.h5 --explain 2>/dev/null | grep -q '^layout   threads:'

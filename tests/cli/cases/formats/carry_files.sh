# Motors and monitors of a stack of several files: of each file its own, or all of them in the first.
$airy simulate diffraction a.h5 --detector pilatus_100k --frames 3 --seed 1 --write-poni s.poni --quiet
$airy simulate diffraction b.h5 --detector pilatus_100k --frames 2 --seed 2 --quiet
cp b.h5 c.h5
for file in a.h5,3 b.h5,2; do
    "$helper" monitor ${file%,*} /entry/motor ${file#*,}
    "$helper" monitor ${file%,*} /entry/ring_current ${file#*,}
done
"$helper" monitor a.h5 /entry/all 5
"$helper" monitor a.h5 /entry/only_here 3
run() { "$airy" integrate "$@" --poni s.poni --bins 20 --quiet; }
values() { "$airy" convert r.h5::/entry/integrate/frame/$1 -o v.npy --quiet --force && "$airy" stats v.npy --json 2>/dev/null | tr -d ' \n' | sed 's/.*"sum":\([0-9.]*\).*/\1/'; echo; }
run a.h5 b.h5 -o r.h5 || exit 1
for name in motor ring_current all; do values $name; done
"$airy" info r.h5 --json | grep -c only_here
run a.h5 b.h5 -o r.h5 --force --carry /entry/motor --monitor /entry/ring_current && values motor && values monitor
run a.h5 b.h5 -o s.h5 --carry /entry/only_here
run a.h5 c.h5 -o s.h5 --carry /entry/motor
run a.h5 c.h5 -o s.h5 --monitor /entry/motor
run a.h5 c.h5 -o s.h5 && "$airy" info s.h5 --json | grep -c 'frame/motor'
echo done

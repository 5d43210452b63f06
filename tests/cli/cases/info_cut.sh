head -c 200000 $small >cut.h5
$airy info cut.h5 >text 2>said
grep -q 'cut.h5 is cut off: 200000 of [0-9]* bytes are there' said || exit 1
head -n 1 text | grep -q '^stack cut.h5' || exit 2
$airy info $small >text 2>said && [ ! -s said ]

# two builds in turn: figures of another build that are a thousand times as large make rates slower and times faster; a failure names its build;
# a round in which one build has no such figure does not count
cat >faster <<'S'
#!/bin/sh
"$airy" "$@" | awk '/"value": [0-9]/ { sub(/,$/, ""); printf "%s %.17g,\n", $1, 1000 * $2; next } { print }'
S
cat >late <<'S'
#!/bin/sh
[ -e begun ] || { : >begun && echo '[]' && exit; }
"$airy" "$@"
S
printf '#!/bin/sh\nexit 5\n' >fails
printf '#!/bin/sh\necho words\n' >words
chmod +x faster late fails words
$airy bench decode start $small --seconds 0.01 --rounds 3 --against ./faster --quiet >rows 2>err && exit 1
grep -q "^airy bench: [0-9]* of [0-9]* figures are slower than those of ./faster, such as 'decode'$" err || { cat err >&2; exit 2; }
grep -A 10 '"name": "decode"' rows | grep -q '"slower": true' || { cat rows >&2; exit 3; }
grep -A 10 '"name": "start: process"' rows | grep -q '"slower": false' || { cat rows >&2; exit 4; }
$airy bench decode $small --seconds 0.01 --rounds 1 --against=./faster --table --quiet >table 2>err && exit 5
awk '$1 == "decode" && $2 == "small.h5" && $6 < 0.5 && $NF == "slower" { found = 1 } END { exit !found }' table || { cat table err >&2; exit 6; }
$airy bench decode $small --seconds 0.01 --rounds 1 --against $airy --quiet >rows 2>err
grep -q '"rounds": 1' rows || { cat rows err >&2; exit 7; }
$airy bench decode $small --seconds 0.01 --rounds 3 --against ./late --quiet >rows 2>err
grep -q '"rounds": 2' rows || { cat rows err >&2; exit 14; }
$airy bench decode $small --seconds 0.01 --against ./fails --quiet >rows 2>err && exit 8
grep -q '^airy bench: ./fails failed in round 1; its message is above$' err || { cat err >&2; exit 9; }
$airy bench decode $small --seconds 0.01 --against ./words --quiet >rows 2>err && exit 10
grep -q '^airy bench: ./words printed no rows of a benchmark$' err || { cat err >&2; exit 11; }
$airy bench decode $small --seconds 0.01 --against ./missing --quiet >rows 2>err && exit 12
grep -q '^airy bench: ./missing cannot be started: No such file or directory$' err || { cat err >&2; exit 13; }
$airy bench decode $small --rounds 2 --quiet 2>err
[ $? = 2 ]

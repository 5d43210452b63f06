# Ctrl-C while it measures: exit code 1, and nothing stays in TMPDIR.
. "$cli/await.sh"
TMPDIR=$PWD
export TMPDIR
$airy bench decode --case 4M-u16 --frames 2 --batch 1 --seconds 60 --quiet >rows 2>err &
id=$!
measures() { [ -s "$(echo airy-bench-*/stack.h5)" ] && catches $id; }
await measures || exit 2
sleep 0.2
kill -INT $id
wait $id
[ $? = 1 ] || exit 3
grep -q cancelled err || exit 4
rm rows err
[ -z "$(ls)" ]

# kill -9 of a bench takes its job with it
[ -r /proc/self/status ] || { echo 'no /proc' >&2; exit 77; }
$airy bench layouts $small --seconds 300 --quiet >rows 2>err &
id=$!
job=
tries=0
until [ -n "$job" ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] && kill -0 $id || { cat err >&2; exit 1; }
    job=$(sed -n 's/^PPid:[[:space:]]*//p;s/^Pid:[[:space:]]*/pid /p' /proc/[0-9]*/status 2>/dev/null | awk -v parent=$id '$1 == "pid" { pid = $2; next } $1 == parent { print pid; exit }')
    sleep 0.05
done
kill -9 $id
wait $id 2>/dev/null
tries=0
while [ -d /proc/$job ] && ! grep -q '^State:.*Z' /proc/$job/status 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 50 ] || { kill -9 $job; echo "job $job goes on" >&2; exit 2; }
    sleep 0.1
done
exit 0

# kill -9 of a bench takes its job with it
. "$cli/await.sh"
[ -r /proc/self/status ] || { echo 'no /proc' >&2; exit 77; }
$airy bench layouts $small --seconds 300 --quiet >rows 2>err &
id=$!
find_job() {
    job=$(sed -n 's/^PPid:[[:space:]]*//p;s/^Pid:[[:space:]]*/pid /p' /proc/[0-9]*/status 2>/dev/null | awk -v parent=$id '$1 == "pid" { pid = $2; next } $1 == parent { print pid; exit }')
    [ -n "$job" ]
}
await find_job || { cat err >&2; exit 1; }
kill -9 $id
wait $id 2>/dev/null
await ended $job || { kill -9 $job; echo "job $job goes on" >&2; exit 2; }

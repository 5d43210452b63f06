#!/bin/sh
# A job gets three rows, in a library that is built beside the real one: a number, a list, and a parameter that goes with
# another one. Each of them is then in the help text, the manual page, the completion, the JSON and the description, and no
# other file was touched.
#   new_rows.sh BUILD SOURCE
set -u
build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
count=0
failed=0
check() { # NAME STATUS
    count=$((count + 1))
    if [ "$2" = 0 ]; then echo "ok $count - $1"; else echo "not ok $count - $1" && failed=$((failed + 1)); fi
}
has() { # NAME FILE PATTERN...
    name=$1 file=$2 status=0
    shift 2
    for pattern; do
        grep -q -e "$pattern" "$file" || { echo "# no '$pattern' in $name" && status=1; }
    done
    check "$name" $status
}

# The rows: the struct of values has a member for each, and the table begins with them.
awk '
/^struct values \{/ { print; print "    double gain;\n    struct airy_job_list tags;\n    size_t rank;"; next }
/^static const struct airy_job_row rows\[\] = \{/ {
    print
    print "    {{.name = \"gain\", .type = AIRY_PARAMETER_REAL, .lo = 0, .hi = 10, .unit = \"counts\", .fallback = \"1\","
    print "      .help = \"multiplies the image by this factor\", .section = \"Scratch\"}, offsetof(struct values, gain), NULL},"
    print "    {{.name = \"tag\", .type = AIRY_PARAMETER_TEXT, .list = true, .help = \"adds a label to the result\"},"
    print "     offsetof(struct values, tags), NULL},"
    print "    {{.name = \"rank\", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 9, .help = \"chooses the rank\","
    print "      .only_with = {\"by\", ranked}}, offsetof(struct values, rank), NULL},"
    next
}
/^static const char \*const kinds\[\]/ { print "static const char *const ranked[] = {\"max\", \"median\", NULL};" }
{ print }' "$source/src/jobs/reduce.c" >"$scratch/reduce.c"

cd "$build" || exit 1
ninja -t commands src/libairy.so.0.1.0 >"$scratch/commands"
compile=$(grep -e '-c [^ ]*src/jobs/reduce\.c$' "$scratch/commands" | sed -e "s| -o [^ ]*| -o $scratch/reduce.o|" -e "s| -MF [^ ]*| -MF $scratch/reduce.d|" \
    -e "s|-c [^ ]*src/jobs/reduce\.c$|-c $scratch/reduce.c|")
link=$(tail -n 1 "$scratch/commands" | sed -e "s|-o src/libairy[^ ]*|-o $scratch/libairy.so.0.1|" -e "s|src/libairy[^ ]*/jobs_reduce\.c\.o|$scratch/reduce.o|")
sh -c "$compile" && sh -c "$link"
check 'the library with three more rows is built' $?
mkdir "$scratch/man" "$scratch/run"
cp tools/airy/airy tools/airy/airy-bench "$scratch/"
export LD_LIBRARY_PATH="$scratch"
airy() { "$scratch/airy" "$@"; }

COLUMNS=200 airy reduce --help >"$scratch/help"
has 'the help text has them' "$scratch/help" '^Scratch$' '--gain X.*, in counts (default 1)' '--tag TEXT.*adds a label' \
    '--rank N.*it goes with --by max or median'
airy --manual "$scratch/man" && cat "$scratch"/man/*reduce* | sed 's/\\-/-/g' >"$scratch/page"
has 'the manual page has them' "$scratch/page" '--gain' '--tag' '--rank'
airy --completion >"$scratch/completion"
has 'the completion has them' "$scratch/completion" '--gain' '--tag' '--rank'

cat >"$scratch/rows.c" <<'C'
#include <airy/job.h>
#include <stdio.h>
int main(void)
{
    airy_job *job = NULL;
    const airy_parameter *p;
    char *json = NULL;
    for (size_t i = 0; (p = airy_job_parameter_at("reduce", i)); i++)
        printf("%s type %d list %d lo %g hi %g unit %s with %s\n", p->name, (int)p->type, p->list, p->lo, p->hi,
               p->unit ? p->unit : "-", p->only_with.parameter ? p->only_with.parameter : "-");
    if (airy_job_create(&job, "reduce", NULL, NULL) ||
        airy_job_set_json(job, "{\"gain\":2.5,\"tag\":[\"a\",\"b\"],\"rank\":3,\"by\":\"max\",\"stack\":[\"x.h5\"]}") ||
        airy_job_check(job) || airy_job_get_json(job, &json))
        return printf("%s\n", airy_last_error()), 1;
    puts(json);
    airy_job_text_free(json);
    airy_job_reset(job, "by");
    printf("%d %s\n", (int)airy_job_check(job), airy_last_error());
    airy_job_destroy(&job);
    return 0;
}
C
${CC:-cc} -o "$scratch/rows" "$scratch/rows.c" -I"$source/include" -L"$scratch" -l:libairy.so.0.1 -Wl,-rpath-link,"$scratch" 2>"$scratch/errors" &&
    "$scratch/rows" >"$scratch/description" || cat "$scratch/errors"
has 'the description has them' "$scratch/description" '^gain type 4 list 0 lo 0 hi 10 unit counts with -$' \
    '^tag type 5 list 1' '^rank type 1 list 0 lo 1 hi 9 unit - with by$'
has 'JSON holds them both ways' "$scratch/description" '"gain":2.5' '"tag":\["a","b"\]' '"rank":3'
has 'a dependent parameter is refused beside other words' "$scratch/description" '^-1 rank goes with by max or median$'

# Of Python, where it is built: signature, docstring and stubs.
if [ -f "$build/python/airy/__init__.pyi" ]; then
    export PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1
    python3 -c 'import airy; print(airy.reduce.__signature__); print(airy.reduce.__doc__)' >"$scratch/python"
    has 'the function of Python has them' "$scratch/python" "gain: 'float' = 1.0" "tag: 'str | Sequence.str. | None' = None" \
        "rank: 'int | None' = None" '^gain : float$' 'in counts; 0 to 10; default: 1' 'goes with by=max or median'
    python3 "$source/python/stubs.py" "$build/python/airy" "$scratch/stubs"
    has 'the stubs have them' "$scratch/stubs" '^    gain: float = 1.0,$' '^    rank: int | None = None,$'
fi

cd "$scratch/run" || exit 1
airy reduce none.h5 -o x.npy --rank 3 2>"$scratch/refused"
has 'the command refuses it, too' "$scratch/refused" '--rank goes with --by max or median'
airy reduce none.h5 -o x.npy --gain 11 2>"$scratch/refused"
has 'the command knows its limits' "$scratch/refused" '--gain 11: expected a number from 0 to 10'
echo "1..$count"
[ $failed = 0 ]

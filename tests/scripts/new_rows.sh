#!/bin/sh
# Two jobs get three rows each, in a library that is built beside the real one: a number, a list, and a parameter that goes with
# another one. Each of them is then in the help text, the manual page, the completion, the JSON and the description, and no
# other file was touched but those that have the struct of values and the table.
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
    name="$job: $1" file=$2 status=0
    shift 2
    for pattern; do
        grep -q -e "$pattern" "$file" || { echo "# no '$pattern' in $name" && status=1; }
    done
    check "$name" $status
}

# Of the text of a source or a header: the rows begin the table TABLE, the members end the struct VALUES.
add_rows() { # VALUES TABLE WITH WORDS
    awk -v values="$1" -v table="$2" -v with="$3" -v words="$4" '
    $0 == "struct " values " {" { inside = 1 }
    inside && /^\};/ { print "    double gain;\n    struct airy_job_list tags;\n    size_t rank;"; inside = 0 }
    $0 == "static const struct airy_job_row " table "[] = {" {
        print "static const char *const ranked[] = {" words ", NULL};"
        print
        print "    {{.name = \"gain\", .type = AIRY_PARAMETER_REAL, .lo = 0, .hi = 10, .unit = \"counts\", .fallback = \"1\","
        print "      .help = \"multiplies the image by this factor\", .section = \"Scratch\"}, offsetof(struct " values ", gain), NULL},"
        print "    {{.name = \"tag\", .type = AIRY_PARAMETER_TEXT, .list = true, .help = \"adds a label to the result\"},"
        print "     offsetof(struct " values ", tags), NULL},"
        print "    {{.name = \"rank\", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 9, .help = \"chooses the rank\","
        print "      .only_with = {\"" with "\", ranked}}, offsetof(struct " values ", rank), NULL},"
        next
    }
    { print }'
}

mkdir -p "$scratch/jobs/integrate" "$scratch/man" "$scratch/run"
add_rows values rows by '"max", "median"' <"$source/src/jobs/reduce.c" >"$scratch/reduce.c"
add_rows airy_integrate_values result_rows format '"nxazint"' <"$source/src/jobs/integrate/integrate.c" >"$scratch/integrate.c"
# The members are the last ones: what is compiled with the header as it was finds the others where they were.
add_rows airy_integrate_values none '' '' <"$source/src/jobs/integrate/integrate.h" >"$scratch/jobs/integrate/integrate.h"

cd "$build" || exit 1
ninja -t commands src/libairy.so.0.1.0 >"$scratch/commands"
compile() { # FILE NAME
    grep -e "-c [^ ]*src/$1\$" "$scratch/commands" | sed -e "s| -I| -I$scratch -I|" -e "s| -o [^ ]*| -o $scratch/$2.o|" \
        -e "s| -MF [^ ]*| -MF $scratch/$2.d|" -e "s|-c [^ ]*src/$1\$|-c $scratch/$2.c|"
}
link=$(tail -n 1 "$scratch/commands" | sed -e "s|-o src/libairy[^ ]*|-o $scratch/libairy.so.0.1|" \
    -e "s|src/libairy[^ ]*/jobs_reduce\.c\.o|$scratch/reduce.o|" -e "s|src/libairy[^ ]*/jobs_integrate_integrate\.c\.o|$scratch/integrate.o|")
sh -c "$(compile 'jobs/reduce\.c' reduce)" && sh -c "$(compile 'jobs/integrate/integrate\.c' integrate)" && sh -c "$link"
check 'the library with three more rows in each of two jobs is built' $?
cp tools/airy/airy tools/airy/airy-bench "$scratch/"
export LD_LIBRARY_PATH="$scratch"
airy() { "$scratch/airy" "$@"; }
airy --manual "$scratch/man"
airy --completion >"$scratch/completion"

cat >"$scratch/rows.c" <<'C'
#include <airy/job.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    airy_job *job = NULL;
    const airy_parameter *p;
    char *json = NULL;
    for (size_t i = 0; argc == 4 && (p = airy_job_parameter_at(argv[1], i)); i++)
        printf("%s type %d list %d lo %g hi %g unit %s with %s\n", p->name, (int)p->type, p->list, p->lo, p->hi,
               p->unit ? p->unit : "-", p->only_with.parameter ? p->only_with.parameter : "-");
    if (argc != 4 || airy_job_create(&job, argv[1], NULL, NULL) || airy_job_set_json(job, argv[3]) || airy_job_check(job) ||
        airy_job_get_json(job, &json))
        return printf("%s\n", airy_last_error()), 1;
    puts(json);
    airy_job_text_free(json);
    airy_job_reset(job, argv[2]);
    printf("%d %s\n", (int)airy_job_check(job), airy_last_error());
    airy_job_destroy(&job);
    return 0;
}
C
${CC:-cc} -o "$scratch/rows" "$scratch/rows.c" -I"$source/include" -L"$scratch" -l:libairy.so.0.1 -Wl,-rpath-link,"$scratch" 2>"$scratch/errors" ||
    cat "$scratch/errors"

# The same arguments: signature, docstring and stubs of the package for Python.
look_at_python() {
    PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1
    export PYTHONPATH PYTHONDONTWRITEBYTECODE
    python3 -c "import airy; print(airy.$1.__signature__); print(airy.$1.__doc__)" >"$scratch/python"
    has 'the function of Python has them' "$scratch/python" "gain: 'float' = 1.0" "tag: 'str | Sequence.str. | None' = None" \
        "rank: 'int | None' = None" '^gain : float$' 'in counts; 0 to 10; default: 1' "goes with $2=$3"
    python3 "$source/python/stubs.py" "$build/python/airy" "$scratch/stubs"
    has 'the stubs have them' "$scratch/stubs" '^    gain: float = 1.0,$' '^    rank: int | None = None,$'
}
# JOB WITH WORDS JSON OUTPUT: the other parameter, its words as a sentence has them, the rest of an object, and a name for the output
look_at() {
    job=$1
    COLUMNS=200 airy "$job" --help >"$scratch/help"
    has 'the help text has them' "$scratch/help" '^Scratch$' '--gain X.*(default 1 counts)' '--tag TEXT.*adds a label' \
        "--rank N.*it goes with --$2 $3"
    sed 's/\\-/-/g' "$scratch"/man/*"$job"* >"$scratch/page"
    has 'the manual page has them' "$scratch/page" '--gain' '--tag' '--rank'
    sed -n "/^ *\"$job\")/,/;;/p" "$scratch/completion" >"$scratch/words"
    has 'the completion has them' "$scratch/words" '--gain' '--tag' '--rank'
    "$scratch/rows" "$job" "$2" "{\"gain\":2.5,\"tag\":[\"a\",\"b\"],\"rank\":3,\"stack\":[\"x.h5\"],$4}" >"$scratch/description"
    has 'the description has them' "$scratch/description" '^gain type 4 list 0 lo 0 hi 10 unit counts with -$' \
        '^tag type 5 list 1' "^rank type 1 list 0 lo 1 hi 9 unit - with $2\$"
    has 'JSON holds them both ways' "$scratch/description" '"gain":2.5' '"tag":\["a","b"\]' '"rank":3'
    has 'a dependent parameter is refused beside other words' "$scratch/description" "^-1 rank goes with $2 $3"
    cd "$scratch/run" || exit 1
    airy "$job" none.h5 -o "$5" --rank 3 2>"$scratch/refused"
    has 'the command refuses it, too' "$scratch/refused" "--rank goes with --$2 $3"
    airy "$job" none.h5 -o "$5" --gain 11 2>"$scratch/refused"
    has 'the command knows its limits' "$scratch/refused" '--gain 11: expected a number from 0 to 10'
    printf '{"gain": 12}' >config.json
    airy "$job" none.h5 -o "$5" --config config.json 2>"$scratch/refused"
    has 'its configuration file has them' "$scratch/refused" 'gain 12: expected a number from 0 to 10'
    [ ! -f "$build/python/airy/__init__.pyi" ] || look_at_python "$@"
}
look_at reduce by 'max or median' '"by":"max"' x.npy
look_at integrate format nxazint '"format":"nxazint","output":"x.h5"' x.h5
echo "1..$count"
[ $failed = 0 ]

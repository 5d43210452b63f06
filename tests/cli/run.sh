#!/bin/sh
# usage: run.sh [OPTION...] [AIRY HELPER] [TOPIC | NAME | TOPIC/NAME]...
# Runs the cases cases/TOPIC/NAME.sh (default: all), each in an empty folder, and compares what a case prints: NAME.stdout.exact word for
# word, NAME.stderr.glob line by line as shell patterns ("..." for any further lines), NAME.exit the exit code (default 0). Prints TAP:
# a result for each assertion of a case (see check.sh), and one for the case. A case that exits 77 is skipped. The folder of a failed case
# is kept, and its place is printed. AIRY and HELPER are programs, by default those of build/. How a case is written: README.md beside
# this file.
#   --part I/N      every N-th case from the I-th on
#   --every N       of these one of every N: the first, or the one after $CHECK_SLICE modulo N others; all if CHECK_SLICE=all
#   --without FILE  skip the cases of FILE: TOPIC/NAME and why, one a line
#   --debug[=N]     run the N-th (1) call of airy in a case under gdb, or under the command in $GDB; the calls are printed
#   --wrap COMMAND  run every call of airy under COMMAND, such as 'valgrind -q' or 'strace -f -o trace'
#   --update        write the expectations of failed cases anew from what they print, and show what changed. The pattern of a line that
#                   still matches is kept. A case that ends with another exit code is left as it is.
#   --exit          with --update, also write the exit code
here=$(cd "$(dirname "$0")" && pwd)
part=1/1
every=1
without=/dev/null
debug=
wrap=
update=
update_exit=
while :; do
    case $1 in
    --part) part=$2 && shift ;;
    --every) every=$2 && shift ;;
    --without) without=$2 && shift ;;
    --debug) debug=1 ;;
    --debug=*) debug=${1#*=} ;;
    --update) update=yes ;;
    --exit) update_exit=yes ;;
    --wrap) wrap=$2 && shift ;;
    --*) echo "run.sh: option $1 is unknown, see the head of $0" >&2 && exit 2 ;;
    *) break ;;
    esac
    shift
done
airy=build/tools/airy/airy
helper=build/tests/cli/airy-cli-helper
# The names of cases are no programs.
if [ $# -ge 2 ] && [ -f "$1" ] && [ -x "$1" ]; then
    airy=$1
    helper=$2
    shift 2
fi
case $airy in /*) ;; *) airy=$PWD/$airy ;; esac
case $helper in /*) ;; *) helper=$PWD/$helper ;; esac
again="$here/run.sh $airy $helper"
debug_again="$here/run.sh --debug $airy $helper"
case $TMPDIR in *[[:space:]]*) unset TMPDIR ;; esac # names are not quoted everywhere
top=$(mktemp -d) || exit 1
failed=0
trap '[ $failed != 0 ] || rm -rf "$top"' EXIT
trap 'exit 1' INT TERM
unset AIRY_DEVICE AIRY_LOG COLUMNS
# PoCL compiles for longer than the kernels of a case run.
POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable
AIRY_DEVICE=cpu
AIRY_CACHE_DIR=none
LC_ALL=C
small=$top/fixture/small.h5
golden=$(cd "$here/../golden" && pwd)
cli=$here
export airy helper small golden cli AIRY_DEVICE AIRY_CACHE_DIR LC_ALL POCL_EXTRA_BUILD_FLAGS
mkdir "$top/fixture"
(cd "$top/fixture" && "$airy" simulate diffraction small.h5 --detector pilatus_100k --frames 8 --seed 1 --write-poni small.poni --quiet) ||
    echo "# the stack of the cases could not be made"

# Put a program in the place of airy that runs airy under another program. A debugger has the input and output of this script, and the
# command that it debugs has those of the case. There is no limit of time.
limit="timeout -k 5 400"
if [ -n "$debug$wrap" ]; then
    limit=
    real=$airy
    airy=$top/bin/airy
    mkdir "$top/bin"
    export real debug wrap top
    export GDB="${GDB:-gdb -q}"
    exec 5<&0 6>&2
    trap : INT # the debugger's
    # shellcheck disable=SC2016
    echo 'exec "$@" <&7 >&8 2>&9 7<&- 8>&- 9>&-' >"$top/bin/redirected"
    cat >"$airy" <<'END'
#!/bin/sh
call=$(($(cat "$top/bin/calls" 2>/dev/null || echo 0) + 1))
echo $call >"$top/bin/calls"
[ -z "$debug" ] || echo "# call $call: airy $*" >&6
[ -z "$wrap" ] || exec $wrap "$real" "$@"
[ "$call" = "$debug" ] || exec "$real" "$@"
exec 7<&0 8>&1 9>&2
exec $GDB -iex "set exec-wrapper sh $top/bin/redirected" --args "$real" "$@" <&5 >&6 2>&6
END
    chmod +x "$airy"
fi

# Run the case in an empty folder; its output goes to FOLDER.out and FOLDER.err.
run() { # TOPIC/NAME FOLDER
    mkdir "$2"
    rm -f "$top/bin/calls"
    # A case that hangs has failed; the next one runs.
    (cd "$2" && exec $limit sh "$here/cases/$1.sh") >"$2.out" 2>"$2.err" </dev/null
}

# Write the expectations of a failed case, which ran in $folder and ended with CODE.
updated=
renew() { # TOPIC/NAME CODE WANT
    if [ "$2" != "$3" ]; then
        if [ -z "$update_exit" ]; then
            echo "# not written: the exit code is $2, expected $3; --exit takes the new one" && return 1
        fi
        if [ "$2" = 0 ]; then rm "$here/cases/$1.exit"; else echo "$2" >"$here/cases/$1.exit"; fi
        echo "# written: exit code $2"
    fi
    second=$top/second/${1##*/}
    mkdir -p "$top/second"
    run "$1" "$second"
    updated="$updated $here/cases/$1.*"
    "${PYTHON:-python3}" "$here/update.py" "$here/cases/$1" "$folder" "$second" "$top" "$(dirname "$here")"
    set -- $?
    rm -rf "$top/second"
    return "$1"
}

# Every line of $1 matches the pattern on that line of $2.
matches() {
    exec 3<"$1" 4<"$2"
    while IFS= read -r pattern <&4; do
        [ "$pattern" = ... ] && return 0
        IFS= read -r line <&3 || return 1
        # shellcheck disable=SC2254
        case $line in $pattern) ;; *) return 1 ;; esac
    done
    ! IFS= read -r line <&3
}

# Split what a case is expected to print and what it printed at the lines "== SENTENCE", into $parts/KIND.NUMBER; 0 is what comes before the
# first. The sentences are in $parts/names, the number of the last that the case printed in $parts/last, what stands twice in $parts/twice.
parts=$top/parts
split() { # CASE FOLDER
    rm -rf "$parts" && mkdir "$parts" && : >"$parts/names" || return
    for kind in want.out out want.err err; do : >"$parts/$kind.0"; done
    for kind in "want.out=$1.stdout.exact" "out=$2.out" "want.err=$1.stderr.glob" "err=$2.err"; do
        [ ! -f "${kind#*=}" ] || set -- "$@" "kind=${kind%%=*}" "${kind#*=}"
    done
    shift 2
    awk -v parts="$parts/" '
        FNR == 1 { file = parts kind ".0" }
        !/^== / { print >file; next }
        {
            sentence = substr($0, 4)
            if (!(sentence in number)) {
                number[sentence] = ++count
                print sentence >(parts "names")
            }
            if (seen[kind, sentence]++)
                print sentence >(parts "twice")
            if (kind == "out")
                last = number[sentence]
            close(file)
            file = parts kind "." number[sentence]
            printf "" >file
        }
        END { print last + 0 >(parts "last") }' "$@"
}

# Compare one part of a case: $different says what is not as expected.
compare() { # CASE NUMBER
    different=
    if [ ! -e "$parts/out.$2" ]; then
        different="; the case ended before it"
    elif [ ! -e "$parts/want.out.$2" ]; then
        different="; it is not in ${1##*/}.stdout.exact"
    else
        if [ -f "$1.stdout.exact" ] && ! cmp -s "$parts/want.out.$2" "$parts/out.$2"; then
            different="; standard output differs"
        fi
        for kind in want.err err; do : >>"$parts/$kind.$2"; done
        if [ -f "$1.stderr.glob" ] && ! matches "$parts/err.$2" "$parts/want.err.$2"; then
            different="$different; standard error differs"
        fi
    fi
}

# Say what is not as expected in one part of a case.
explain() { # CASE NUMBER WHY
    echo "# ${3#; }"
    if [ -f "$1.stdout.exact" ] && [ -e "$parts/want.out.$2" ] && [ -e "$parts/out.$2" ]; then
        diff "$parts/want.out.$2" "$parts/out.$2" | sed 's/^/# diff: /' | head -n 8
    fi
    sed 's/^/# out: /' "$parts/out.$2" 2>/dev/null | head -n 12
    sed 's/^/# err: /' "$parts/err.$2" 2>/dev/null | head -n 12
}

# Compare all of a case: $why says what differs, and $top/results has a line for each assertion and one for the case, which begin with
# "ok" or "not ok", with comments behind those that failed.
judge() { # TOPIC/NAME FOLDER CODE WANT
    case=$here/cases/$1
    split "$case" "$2"
    ended=
    [ "$3" = "$4" ] || ended="; exit code $3, expected $4"
    last=$(cat "$parts/last")
    part=0
    bad=0
    while IFS= read -r sentence; do
        part=$((part + 1))
        compare "$case" $part
        # which ended the case, as far as it is known
        [ $part != "$last" ] || different="$ended$different"
        if [ -z "$different" ]; then
            echo "ok $1: $sentence"
        else
            bad=$((bad + 1))
            echo "not ok $1: $sentence"
            explain "$case" $part "$different"
        fi
    done <"$parts/names" >"$top/results"
    compare "$case" 0
    [ "$last" != 0 ] || different="$ended$different"
    [ ! -e "$parts/twice" ] || different="$different; this sentence stands twice: $(head -n 1 "$parts/twice")"
    # the order of the assertions, and bytes that are no text
    if [ $bad = 0 ] && [ -z "$different" ] && [ -f "$case.stdout.exact" ] && ! cmp -s "$case.stdout.exact" "$2.out"; then
        different="; standard output differs"
    fi
    if [ -z "$different" ]; then
        echo "ok $1"
    else
        echo "not ok $1"
        explain "$case" 0 "$different"
    fi >>"$top/results"
    why=$different
    [ $bad = 0 ] || why="; $bad of $part assertions failed$why"
}

# Print the results with their numbers. Behind the first one that failed stands how to look at it.
report() { # TOPIC/NAME FOLDER
    hint=yes
    while IFS= read -r line; do
        case $line in
        'ok '*)
            number=$((number + 1))
            echo "ok $number - ${line#ok }"
            ;;
        'not ok '*)
            number=$((number + 1))
            failed=$((failed + 1))
            echo "not ok $number - ${line#not ok }"
            [ -z "$hint" ] || cat <<END
# its folder: $2, what it printed: $2.out and .err
# run it again: $again $1
# with gdb at its first call of airy: $debug_again $1
END
            hint=
            ;;
        *) echo "$line" ;;
        esac
    done <"$top/results"
}

# The cases that a topic or a name means, as TOPIC/NAME. A topic comes before a case of its name.
find_cases() { # TOPIC, NAME or TOPIC/NAME
    wanted=$1
    if [ -d "$1" ]; then
        set -- "${1%/}"/*.sh
    elif [ -f "$1.sh" ]; then
        set -- "$1.sh"
    else
        set -- */"$1.sh"
    fi
    [ -f "$1" ] || { echo "run.sh: there is no case and no topic '$wanted' in $PWD" >&2 && return 1; }
    printf '%s\n' "$@" | sed 's|\.sh$||'
}

all=$(
    cd "$here/cases" || exit
    # a case is found by its name, and its folder is called so
    twice=$(printf '%s\n' */*.sh | sed 's|.*/||' | sort | uniq -d)
    [ -z "$twice" ] || { echo "run.sh: two topics have a case $twice; give one of them another name" >&2 && exit 1; }
    [ $# -gt 0 ] || set -- *
    for name; do find_cases "$name" || exit 1; done
) || exit 2
[ "$CHECK_SLICE" != all ] || every=1
part=$(printf '%s\n' "$all" | awk -v first="${part%/*}" -v step="${part#*/}" -v slice="${CHECK_SLICE:-0}" -v every="$every" '
    !seen[$0]++ && ++number % step == first % step && met++ % every == slice % every')
# shellcheck disable=SC2086
set -- $part
number=0
cases=0
for name; do
    case=$here/cases/$name
    folder=$top/${name##*/}
    why=$(sed -n "s|^$name  *||p" "$without")
    if [ -n "$why" ]; then
        number=$((number + 1))
        echo "ok $number - $name # SKIP $why"
        continue
    fi
    run "$name" "$folder"
    code=$?
    want=0
    [ -f "$case.exit" ] && want=$(cat "$case.exit")
    if [ $code = 77 ] && [ "$want" != 77 ]; then
        number=$((number + 1))
        echo "ok $number - $name # SKIP $(tail -n 1 "$folder.err")"
        rm -rf "$folder" "$folder.out" "$folder.err"
        continue
    fi
    judge "$name" "$folder" $code "$want"
    if [ -n "$why" ] && [ -n "$update" ]; then
        echo "# $name: ${why#; }"
        renew "$name" $code "$want" && judge "$name" "$folder" $code $code
    fi
    report "$name" "$folder"
    if [ -z "$why" ]; then
        rm -rf "$folder" "$folder.out" "$folder.err"
    else
        cases=$((cases + 1))
    fi
done
echo "1..$number"
# shellcheck disable=SC2086
[ -z "$updated" ] || git -C "$here" --no-pager diff -- $updated 2>/dev/null
[ $failed = 0 ] || in=" in $cases of $# cases"
echo "# $failed of $number assertions failed$in"
[ $failed = 0 ]

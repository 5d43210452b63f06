#!/bin/sh
# usage: run.sh [OPTION...] [AIRY HELPER] [TOPIC | NAME | TOPIC/NAME]...
# Runs the cases cases/TOPIC/NAME.sh (default: all), each in an empty folder, and compares what a case prints: NAME.stdout.exact word for
# word, NAME.stderr.glob line by line as shell patterns ("..." for any further lines), NAME.exit the exit code (default 0). Prints TAP. A
# case that exits 77 is skipped. The folder of a failed case is kept, and its place is printed. AIRY and HELPER are programs, by default
# those of build/. How a case is written: README.md beside this file.
#   --part I/N      every N-th case from the I-th on
#   --without FILE  skip the cases of FILE: TOPIC/NAME and why, one a line
#   --debug[=N]     run the N-th (1) call of airy in a case under gdb, or under the command in $GDB; the calls are printed
#   --wrap COMMAND  run every call of airy under COMMAND, such as 'valgrind -q' or 'strace -f -o trace'
#   --update        write the expectations of failed cases anew from what they print, and show what changed. The pattern of a line that
#                   still matches is kept. A case that ends with another exit code is left as it is.
#   --exit          with --update, also write the exit code
here=$(cd "$(dirname "$0")" && pwd)
part=1/1
without=/dev/null
debug=
wrap=
update=
update_exit=
while :; do
    case $1 in
    --part) part=$2 && shift ;;
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
AIRY_DEVICE=cpu
AIRY_CACHE_DIR=none
LC_ALL=C
small=$top/fixture/small.h5
golden=$(cd "$here/../golden" && pwd)
cli=$here
export airy helper small golden cli AIRY_DEVICE AIRY_CACHE_DIR LC_ALL
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
part=$(printf '%s\n' "$all" | awk -v first="${part%/*}" -v step="${part#*/}" '!seen[$0]++ && ++number % step == first % step')
# shellcheck disable=SC2086
set -- $part
echo "1..$#"
number=0
for name; do
    number=$((number + 1))
    case=$here/cases/$name
    folder=$top/${name##*/}
    why=$(sed -n "s|^$name  *||p" "$without")
    if [ -n "$why" ]; then
        echo "ok $number - $name # SKIP $why"
        continue
    fi
    run "$name" "$folder"
    code=$?
    want=0
    [ -f "$case.exit" ] && want=$(cat "$case.exit")
    why=
    if [ $code = 77 ] && [ "$want" != 77 ]; then
        echo "ok $number - $name # SKIP $(tail -n 1 "$folder.err")"
        rm -rf "$folder" "$folder.out" "$folder.err"
        continue
    fi
    [ $code = "$want" ] || why="exit code $code, expected $want"
    if [ -f "$case.stdout.exact" ] && ! cmp -s "$case.stdout.exact" "$folder.out"; then
        why="$why; standard output differs"
    fi
    if [ -f "$case.stderr.glob" ] && ! matches "$folder.err" "$case.stderr.glob"; then
        why="$why; standard error differs"
    fi
    if [ -n "$why" ] && [ -n "$update" ]; then
        echo "# $name: ${why#; }"
        renew "$name" $code "$want" && why=
    fi
    if [ -z "$why" ]; then
        echo "ok $number - $name"
        rm -rf "$folder" "$folder.out" "$folder.err"
    else
        failed=$((failed + 1))
        echo "not ok $number - $name"
        echo "# ${why#; }"
        echo "# its folder: $folder, what it printed: $folder.out and .err"
        echo "# run it again: $again $name"
        echo "# with gdb at its first call of airy: $debug_again $name"
        [ ! -f "$case.stdout.exact" ] || diff "$case.stdout.exact" "$folder.out" | sed 's/^/# diff: /' | head -n 8
        sed 's/^/# out: /' "$folder.out" | head -n 12
        sed 's/^/# err: /' "$folder.err" | head -n 12
    fi
done
# shellcheck disable=SC2086
[ -z "$updated" ] || git -C "$here" --no-pager diff -- $updated 2>/dev/null
echo "# $failed of $number cases failed"
[ $failed = 0 ]

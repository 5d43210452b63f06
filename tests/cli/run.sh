#!/bin/sh
# usage: run.sh [--part I/N] [--without FILE] AIRY HELPER [NAME...]
# Runs cases/NAME.sh (default: all), each in an empty folder, and compares what it prints: NAME.stdout.exact word for word, NAME.stderr.glob line
# by line as shell patterns ("..." for any further lines), NAME.exit the exit code (default 0). Prints TAP. A case that exits 77 is skipped.
# With --part every N-th case of them from the I-th on. With --without those of FILE are skipped: a name and why, one a line.
# In a case: $airy and $helper are the programs, $golden the reference data, $small is a stack of 8 frames (pilatus_100k, uint32) with its small.poni beside it.
here=$(cd "$(dirname "$0")" && pwd)
part=1/1
without=/dev/null
while :; do
    case $1 in
    --part) part=$2 ;;
    --without) without=$2 ;;
    *) break ;;
    esac
    shift 2
done
airy=$1
helper=$2
shift 2
case $airy in /*) ;; *) airy=$PWD/$airy ;; esac
case $helper in /*) ;; *) helper=$PWD/$helper ;; esac
case $TMPDIR in *[[:space:]]*) unset TMPDIR ;; esac # names are not quoted everywhere
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
trap 'exit 1' INT TERM
unset AIRY_DEVICE AIRY_LOG COLUMNS
AIRY_DEVICE=cpu
AIRY_CACHE_DIR=none
LC_ALL=C
small=$top/fixture/small.h5
golden=$(cd "$here/../golden" && pwd)
export airy helper small golden AIRY_DEVICE AIRY_CACHE_DIR LC_ALL
mkdir "$top/fixture"
(cd "$top/fixture" && "$airy" simulate diffraction small.h5 --detector pilatus_100k --frames 8 --seed 1 --write-poni small.poni --quiet) ||
    echo "# the stack of the cases could not be made"

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

[ $# -gt 0 ] || set -- $(cd "$here/cases" && ls ./*.sh | sed 's|^\./||; s|\.sh$||')
part=$(printf '%s\n' "$@" | awk -v first="${part%/*}" -v step="${part#*/}" 'NR % step == first % step')
# shellcheck disable=SC2086
set -- $part
echo "1..$#"
number=0
failed=0
for name; do
    number=$((number + 1))
    case=$here/cases/$name
    why=$(sed -n "s/^$name  *//p" "$without")
    if [ -n "$why" ]; then
        echo "ok $number - $name # SKIP $why"
        continue
    fi
    mkdir "$top/$name"
    # one that hangs is one that failed, not the end of the part
    (cd "$top/$name" && exec timeout -k 5 400 sh "$case.sh") >"$top/$name.out" 2>"$top/$name.err" </dev/null
    code=$?
    want=0
    [ -f "$case.exit" ] && want=$(cat "$case.exit")
    why=
    if [ $code = 77 ] && [ "$want" != 77 ]; then
        echo "ok $number - $name # SKIP $(tail -n 1 "$top/$name.err")"
        continue
    fi
    [ $code = "$want" ] || why="exit code $code, expected $want"
    if [ -f "$case.stdout.exact" ] && ! cmp -s "$case.stdout.exact" "$top/$name.out"; then
        why="$why; standard output differs"
    fi
    if [ -f "$case.stderr.glob" ] && ! matches "$top/$name.err" "$case.stderr.glob"; then
        why="$why; standard error differs"
    fi
    if [ -z "$why" ]; then
        echo "ok $number - $name"
    else
        failed=$((failed + 1))
        echo "not ok $number - $name"
        echo "# ${why#; }"
        [ ! -f "$case.stdout.exact" ] || diff "$case.stdout.exact" "$top/$name.out" | sed 's/^/# diff: /' | head -n 8
        sed 's/^/# out: /' "$top/$name.out" | head -n 12
        sed 's/^/# err: /' "$top/$name.err" | head -n 12
    fi
    rm -rf "${top:?}/$name"
done
echo "# $failed of $number cases failed"
[ $failed = 0 ]

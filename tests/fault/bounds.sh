#!/bin/sh
# usage: bounds.sh AIRY FILES GROUP     (small, memory or large)
# Runs commands at the edge of what can be counted, on files that FILES (bounds_files.c) makes.
#   small    no frames, no pixels, no bytes: every command says so in one line, or has a right empty result
#   memory   every command in less and less address space (ulimit -v): it works, or says in one line that memory is missing
#   large    images and stacks of more than 2^31 pixels and 2^32 bytes (holes in files), 10^6 frames, 10^5 chunks of each index:
#            results are what they must be, and time and memory at the start are printed. Takes minutes and 8 GB of memory.
# Nothing crashes or hangs, what fails leaves nothing behind. Prints TAP.
airy=$1
files=$2
group=$3
case $airy in /*) ;; *) airy=$PWD/$airy ;; esac
case $files in /*) ;; *) files=$PWD/$files ;; esac
case $TMPDIR in *[[:space:]]*) unset TMPDIR ;; esac # names are not quoted everywhere
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
trap 'exit 1' INT TERM
unset AIRY_LOG
AIRY_DEVICE=cpu
AIRY_CACHE_DIR=none
LC_ALL=C
export AIRY_DEVICE AIRY_CACHE_DIR LC_ALL
in=$top/in
number=0
failed=0
runs=0
limit=

report() { # NAME WHY
    number=$((number + 1))
    if [ -z "$2" ]; then
        echo "ok $number - $1"
    else
        failed=$((failed + 1))
        echo "not ok $number - $1"
        printf '%s\n' "$2" | sed 's/^/# /'
    fi
}

# Run a command in an empty folder; its exit code in $code, what was wrong with it in $why.
run() {
    rm -rf "$top/ran"
    mkdir "$top/ran"
    (cd "$top/ran" && { [ -z "$limit" ] || ulimit -v "$limit"; } && exec timeout -k 5 "${BOUNDS_SECONDS:-120}" "$airy" "$@") \
        >"$top/out" 2>"$top/err" </dev/null
    code=$?
    # of diff 1 is a difference and 2 a failure
    [ "$1" != diff ] || [ $code != 2 ] || code=1
    runs=$((runs + 1))
    why=
    lines=$(wc -l <"$top/err")
    case $code in
    0) ;;
    1)
        { [ "$lines" = 1 ] && grep -q '^airy [a-z ]*: .' "$top/err"; } || why="$lines lines on standard error: $(head -n 3 "$top/err")"
        left=$(find "$top/ran" -type f)
        [ -z "$left" ] || why="$why
left: $left"
        ;;
    *) why="exit code $code: $(head -n 3 "$top/err")" ;;
    esac
}

geometry='--pixel 1e-4,1e-4 --dist 0.1 --poni1 0 --poni2 0 --wavelength 1e-10 --bins 10'

# Every command that takes an image or a stack, on $1; what it is called with is a line.
commands() {
    cat <<END
info $1
integrate $1 $geometry --threads 2 -o out.h5 --quiet
integrate $1 $geometry --bins 5x4 --threads 2 -o out.h5 --quiet
peaks $1 $geometry --threads 2 -o out.h5 --quiet
convert $1 -o out.npy --quiet
convert $1 -o out.h5 --quiet
convert $1 -o out.fits --quiet
convert $1 -o out.tif --quiet
compress $1 out.h5 --quiet
decompress $1 out.h5 --quiet
stats $1 --quiet
clip $1 --quiet
threshold $1 --above 1 -o out.npy --quiet
reduce $1 -o out.npy --quiet
reduce $1 --by median -o out.npy --quiet
label $1 -o out.npy --quiet
blur $1 --sigma 1 -o out.npy --quiet
filter median $1 -o out.npy --size 3 --quiet
convolve $1 --kernel $in/kernel.npy -o out.npy --quiet
view $1 -o out.png --quiet
sources $1 --method simple --catalog out.csv --quiet
diff $1 $1
oct $1 --plan $in/plan.json -o out.npy --quiet
END
}

# NAME FILE: all commands on a file
all_commands() {
    commands "$2" >"$top/commands"
    wrong=
    while read -r line <&3; do
        # shellcheck disable=SC2086
        run $line
        [ -z "$why" ] || wrong="$wrong
airy $line: $why"
    done 3<"$top/commands"
    report "$1" "${wrong#?}"
}

# NAME COMMAND...: works, and says what the pattern $expect wants
works() {
    name=$1
    shift
    begun=$(date +%s%N)
    run "$@"
    took=$(($(date +%s%N) - begun))
    [ $code = 0 ] || why="exit code $code: $(head -n 3 "$top/err")"
    [ -n "$why" ] || [ -z "$expect" ] || grep -q "$expect" "$top/out" || why="'$expect' is not in: $(head -n 5 "$top/out")"
    report "$name ($((took / 1000000)) ms)" "$why"
}

mkdir "$in"
cd "$in" || exit 1
echo '{"samples": 64, "lines": 8, "dtype": "u16"}' >plan.json
"$airy" simulate kernel kernel.npy --quiet || exit 1
case $group in
small)
    "$files" none.h5 0 8 8 fixed && "$files" no_rows.h5 3 0 8 hole && "$files" no_columns.h5 3 8 0 hole &&
        "$files" none.npy 0 8 8 hole && "$files" no_rows.npy 3 0 8 hole || exit 1
    for name in empty.npy empty.h5 empty.fits empty.cbf empty.edf empty.tif empty.png; do
        : >$name
    done
    for file in no*.h5 no*.npy empty.*; do
        all_commands "$file" "$in/$file"
    done
    ;;
memory)
    "$files" stack.h5 50 512 512 fixed 2 && "$files" image.npy 1 1500 1500 hole 2 || exit 1
    # PoCL ends the process where it cannot begin its threads
    OCL_ICD_VENDORS=$top
    export OCL_ICD_VENDORS
    # what the libraries take before anything is done
    least=20000
    until (ulimit -v $least && exec "$airy" --version) >/dev/null 2>&1; do
        least=$((least + 5000))
        [ $least -lt 1000000 ] || exit 1
    done
    for more in 0 1 2 5 10 20 40 80 160 320; do
        limit=$((least + more * 1000))
        all_commands "stack_in_$more\_MB" "$in/stack.h5"
        all_commands "image_in_$more\_MB" "$in/image.npy"
    done
    limit=
    ;;
large)
    BOUNDS_SECONDS=600
    "$files" image.npy 1 50000 50000 hole && "$files" image.h5 1 50000 50000 hole &&
        "$files" stack.h5 70000 256 256 hole && "$files" stack2.h5 40000 256 256 hole 2 && "$files" stack.npy 70000 256 256 hole || exit 1
    expect='"count": 2500000000'
    works stats_of_2500000000_pixels stats "$in/image.npy"
    expect=
    works info_of_2500000000_pixels info "$in/image.h5"
    works threshold_2500000000_pixels threshold "$in/image.npy" --above 1 -o out.npy --quiet
    works last_frames_beyond_2_to_32_bytes integrate "$in/stack.h5" $geometry --frames 69990:70000 -o out.h5 --quiet
    works last_frames_of_u16 integrate "$in/stack2.h5" $geometry --frames 39990:40000 -o out.h5 --quiet
    works last_frames_of_npy integrate "$in/stack.npy" $geometry --frames 69990:70000 -o out.h5 --quiet
    works all_frames integrate "$in/stack.h5" $geometry --average all -o out.h5 --quiet
    works mean_of_all_frames reduce "$in/stack.h5" -o out.npy --quiet
    rm -f image.* stack*
    for kind in btree1 fixed extensible btree2; do
        for frames in 1000 100000 1000000; do
            "$files" many.h5 $frames 8 8 $kind 2 || exit 1
            expect="$frames frames"
            works "info_${kind}_$frames" info "$in/many.h5"
            expect=
            works "first_result_${kind}_$frames" integrate "$in/many.h5" $geometry --frames 0:10 --threads 1 -o out.h5 --quiet
        done
    done
    ;;
esac
echo "1..$number"
echo "# $runs runs, $failed of $number cases failed"
[ $failed = 0 ]

#!/bin/sh
# Streams for a long time, and looks whether anything grows, slows down or changes.
#   scripts/soak.sh AIRY SECONDS [FOLDER]
# Two processes of one thread each, on AIRY_DEVICE (cpu): `airy oct` takes frames as from a camera of SOAK_LINES lines/s (40000),
# `airy integrate` a list of one and the same file that is as long as the time asks for. Ten times a second at most, 100 times in
# all, their resident memory, threads, open files and what integrate has read are noted in FOLDER/samples. Prints a table and
# TAP: memory is flat (from the second quarter to the last it grows by no more than 1 MiB and 1 percent), all rows of the long
# result are the same bits, and both commands give after it the bits that they gave before. Throughput is printed, not judged:
# others may use the machine.
airy=$1
seconds=$2
folder=$3
case $airy in /*) ;; */*) airy=$PWD/$airy ;; esac
[ -n "$folder" ] || {
    folder=$(mktemp -d) || exit 1
    trap 'rm -rf "$folder"' EXIT
}
AIRY_DEVICE=${AIRY_DEVICE:-cpu}
LC_ALL=C
export AIRY_DEVICE LC_ALL
camera=
integrate=
trap 'kill $camera $integrate 2>/dev/null; exit 1' INT TERM
mkdir -p "$folder" && cd "$folder" || exit 1
number=0
failed=0

report() { # NAME WHY
    number=$((number + 1))
    if [ -n "$2" ]; then
        failed=$((failed + 1))
        echo "not ok $number - $1: $2"
    else
        echo "ok $number - $1"
    fi
}

# COPIES NAME: copies of the stack to one file of patterns, a row a copy
run_integrate() {
    # shellcheck disable=SC2046
    exec "$airy" integrate $(yes stack.h5 | head -n "$1") --poni stack.poni --bins 200 --average 1000 --threads 1 \
        -o "$2.h5" --force --quiet --json >"$2.json"
}

# NAME [OPTIONS]
run_oct() {
    name=$1
    shift
    exec "$airy" oct frames.raw --plan plan.json --mip "$name.npy,frames" --threads 1 --force --quiet --json "$@" >"$name.json"
}

field() { # FILE NAME
    sed -n "s/^ *\"$2\": \([^,]*\),*$/\1/p" "$1" | head -n 1
}

# PROCESS: resident kB, threads, open files
look() {
    echo "$(awk '/^VmRSS/ { m = $2 } /^Threads/ { t = $2 } END { print m + 0, t + 0 }' "/proc/$1/status" 2>/dev/null)" \
        "$(find "/proc/$1/fd" -type l 2>/dev/null | wc -l)"
}

echo '{"samples": 1024, "lines": 256, "dtype": "u16", "background": "mean", "window": {"kind": "hann"}}' >plan.json
"$airy" simulate diffraction stack.h5 --detector pilatus_100k --frames 1000 --seed 1 --write-poni stack.poni --quiet --force &&
    "$airy" simulate oct frames.raw --samples 1024 --lines 256 --frames 16 --seed 1 --quiet --force &&
    (run_integrate 1 warm) && (run_integrate 10 before) && (run_oct before_oct) || exit 1
# Copies for so many seconds by the rate of the run $1; a command line has room for 100000.
copies_for() {
    awk -v rate="$(field "$1.json" frames_per_second)" -v seconds="$2" 'BEGIN {
        n = int(rate * seconds / 1000)
        print(n < 10 ? 10 : n > 100000 ? 100000 : n) }'
}
(run_integrate "$(copies_for before 3)" rate) || exit 1
copies=$(copies_for rate "$seconds")
(run_oct during_oct --line-rate "${SOAK_LINES:-40000}" --repeat "${seconds}s") &
camera=$!
(run_integrate "$copies" during) &
integrate=$!
begun=$(date +%s%N)
: >samples
while kill -0 $integrate 2>/dev/null && kill -0 $camera 2>/dev/null; do
    sleep "$(awk -v s="$seconds" 'BEGIN { print s < 10 ? 0.1 : s / 100 }')"
    read_bytes=$(sed -n 's/^rchar: //p' /proc/$integrate/io 2>/dev/null)
    line="$(($(date +%s%N) - begun)) ${read_bytes:-0} $(look $integrate) $(look $camera)"
    # shellcheck disable=SC2086
    set -- $line
    # a process that has ended has no memory
    [ $# = 8 ] && [ "$3" != 0 ] && [ "$6" != 0 ] && echo "$line" >>samples
done
wait $integrate
code=$?
wait $camera
camera_code=$?
integrate=
camera=
[ $code$camera_code = 00 ] || report "both ran to the end" "exit codes $code of integrate, $camera_code of oct"

# Quarters of the time: means of memory, bytes read a second, threads and files at most; then the slope of memory from the
# second quarter on, by least squares.
awk 'NR == FNR { last = $1; next }
{
    q = int(4 * $1 / last)
    if (q > 3) q = 3
    n[q]++
    for (i = 0; i < 2; i++) {
        memory[q, i] += $(3 + 3 * i)
        if ($(4 + 3 * i) > threads[q, i]) threads[q, i] = $(4 + 3 * i)
        if ($(5 + 3 * i) > files[q, i]) files[q, i] = $(5 + 3 * i)
        if (q) {
            x = $1 / 60e9
            s[i]++; sx[i] += x; sy[i] += $(3 + 3 * i); sxx[i] += x * x; sxy[i] += x * $(3 + 3 * i)
        }
    }
    if (!(q in first_time)) { first_time[q] = $1; first_read[q] = $2 }
    end_time[q] = $1; end_read[q] = $2
}
END {
    print "# quarter  integrate: kB  threads  files  MB/s    oct: kB  threads  files"
    for (q = 0; q < 4; q++) {
        if (!n[q]) continue
        span = end_time[q] - first_time[q]
        rate = span ? (end_read[q] - first_read[q]) * 1e3 / span : 0
        printf("# %7d  %13.0f  %7d  %5d  %4.0f  %8.0f  %7d  %5d\n", q + 1, memory[q, 0] / n[q], threads[q, 0], files[q, 0],
            rate, memory[q, 1] / n[q], threads[q, 1], files[q, 1])
    }
    for (i = 0; i < 2; i++) {
        d = s[i] * sxx[i] - sx[i] * sx[i]
        slope = d > 0 ? (s[i] * sxy[i] - sx[i] * sy[i]) / d : 0
        grown = n[1] && n[3] ? memory[3, i] / n[3] - memory[1, i] / n[1] : 0
        grows = n[1] && grown > 1024 + 0.01 * memory[1, i] / n[1]
        printf("%s %.1f %.0f %s\n", i ? "oct" : "integrate", slope, grown, grows ? "grows" : "flat")
    }
}' samples samples >table
grep '^#' table
for name in integrate oct; do
    # shellcheck disable=SC2046
    set -- $(grep "^$name " table)
    [ "$4" = flat ] && why= || why="$3 kB more in the last quarter than in the second"
    report "memory of $name is flat ($2 kB a minute)" "$why"
done
echo "# $(field during.json frames) frames integrated in $(field during.json seconds) s, $(field during.json frames_per_second) frames/s;" \
    "OCT $(field during_oct.json in) frames in, $(field during_oct.json out) out, $(field during_oct.json dropped) dropped," \
    "$(field during_oct.json failed) failed"

"$airy" convert during.h5::/entry/integrate/result/intensity -o rows.npy --force --quiet
rows=$(tail -c +129 rows.npy | od -An -v -tx1 -w800 | sort | uniq -c | wc -l)
[ "$rows" = 1 ] && why= || why="$rows different ones of $copies"
report "the rows of $copies copies are the same bits" "$why"
(run_integrate 10 after) && (run_oct after_oct)
"$airy" diff before.h5 after.h5 >/dev/null && why= || why="it differs"
report "integrate gives the bits of the beginning" "$why"
cmp before_oct.npy after_oct.npy && cmp before_oct.npy during_oct.npy && why= || why="it differs"
report "oct gives the bits of the beginning, and gave no others" "$why"
echo "1..$number"
[ $failed = 0 ]

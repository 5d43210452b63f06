#!/bin/sh
# Streams for a long time, and looks whether anything grows, slows down or changes.
#   scripts/soak.sh AIRY SECONDS [FOLDER]
# Processes of one thread each, on AIRY_DEVICE (cpu): `airy oct` takes frames as from a camera of SOAK_LINES lines/s (40000),
# `airy integrate` a list of one and the same file that is as long as the time asks for, and `airy stream` plays that file at
# SOAK_RATE images/s (500), in series of a minute, to an `airy integrate` of its own. Ten times a second at most, 100 times in
# all, their resident memory, threads, open files and what integrate has read are noted in FOLDER/samples. Prints tables and
# TAP: memory is flat (from the second quarter to the last it grows by no more than 1 MiB and 1 percent), all rows of the long
# result are the same bits, no image of a series is missing and each gives the bits of the first, and the commands give after it
# the bits that they gave before. Throughput and latency are printed, not judged: others may use the machine. SIGTERM and SIGINT
# end it with the tables of what there is, and exit code 1.
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
pids=
stopped=
trap 'stopped=yes; kill $pids 2>/dev/null' INT TERM
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

# IMAGES/S SERIES TIMES: the stack so many times in each series
run_stream() {
    exec "$airy" stream stack.h5 --poni stack.poni --to ipc://live --rate "$1" --series-count "$2" --loop "$3" --arm 0.2 \
        --pause 0.1 --patience 30 --threads 1 --quiet --json >stream.json
}

# SERIES
run_live() {
    exec "$airy" integrate ipc://live -o 'live_{series}.h5' --series "$1" --bins 200 --threads 1 --force --quiet --json >live.json
}

# Series that are there are compared with the first and removed.
compare_series() {
    while [ -f live_1.h5 ] && [ -f "live_$next.h5" ]; do
        "$airy" diff live_1.h5 "live_$next.h5" >/dev/null && same=$((same + 1))
        rm "live_$next.h5"
        next=$((next + 1))
    done
}

field() { # FILE NAME
    sed -n "s/^ *\"$2\": \([^,]*\),*$/\1/p" "$1" | head -n 1
}

# PROCESS: resident kB, threads, open files; zeros of one that has ended
look() {
    if [ -r "/proc/$1/status" ]; then
        awk -v files="$(find "/proc/$1/fd" -type l 2>/dev/null | wc -l)" \
            '/^VmRSS/ { m = $2 } /^Threads/ { t = $2 } END { print m + 0, t + 0, files }' "/proc/$1/status" 2>/dev/null || echo 0 0 0
    else
        echo 0 0 0
    fi
}

echo '{"samples": 1024, "lines": 256, "dtype": "u16", "background": "mean", "window": {"kind": "hann"}}' >plan.json
rm -f live_*.h5 live
"$airy" simulate diffraction stack.h5 --detector pilatus_100k --frames 1000 --seed 1 --write-poni stack.poni --quiet --force &&
    "$airy" simulate oct frames.raw --samples 1024 --lines 256 --frames 16 --seed 1 --quiet --force &&
    (run_integrate 1 warm) && (run_integrate 10 before) && (run_oct before_oct) || exit 1
# Copies for so many seconds by the rate of the run $1; a command line has room for 100000.
copies_for() {
    awk -v rate="$(field "$1.json" frames_per_second)" -v seconds="$2" 'BEGIN {
        n = int(rate * seconds / 1000)
        print(n < 10 ? 10 : n > 100000 ? 100000 : n) }'
}
# The rate beside the frames of the camera, as it will be.
(run_oct rate_oct --line-rate "${SOAK_LINES:-40000}" --repeat 4s) &
(run_integrate "$(copies_for before 3)" rate) || exit 1
wait $!
copies=$(copies_for rate "$seconds")
# Series of a minute, but four of them.
rate=${SOAK_RATE:-500}
series=$((seconds / 60 > 4 ? seconds / 60 : 4))
times=$(awk -v n="$((rate * seconds / series))" 'BEGIN { n = int(n / 1000); print(n > 0 ? n : 1) }')
next=2
same=1
names='integrate oct'
(run_integrate "$copies" during) &
pids=$!
(run_oct during_oct --line-rate "${SOAK_LINES:-40000}" --repeat "${seconds}s") &
pids="$pids $!"
case $("$airy" --version --verbose) in
*"streams: no"*) ;;
*)
    names='integrate oct stream live'
    (run_stream "$rate" "$series" "$times") &
    pids="$pids $!"
    (run_live "$series") &
    pids="$pids $!"
    ;;
esac
begun=$(date +%s%N)
: >samples
# shellcheck disable=SC2086
set -- $pids
while kill -0 "$1" 2>/dev/null && kill -0 "$2" 2>/dev/null; do
    sleep "$(awk -v s="$seconds" 'BEGIN { print s < 10 ? 0.1 : s / 100 }')" &
    wait $!
    read_bytes=$(sed -n 's/^rchar: //p' "/proc/$1/io" 2>/dev/null)
    line="$(($(date +%s%N) - begun)) ${read_bytes:-0}"
    for pid; do
        line="$line $(look "$pid")"
    done
    echo "$line" >>samples
    compare_series
done
codes=
for pid; do
    while kill -0 "$pid" 2>/dev/null; do
        sleep 1 &
        wait $!
        compare_series
    done
    wait "$pid"
    codes="$codes $?"
done
pids=
compare_series
case $stopped$codes in *[!\ 0]*) report "all ran to the end" "${stopped:+stopped; }exit codes$codes of $names" ;; esac

# Quarters of the time: means of memory, bytes read a second, threads and files at most; then the slope of memory from the
# second quarter on, by least squares. A process that has ended has no memory.
awk -v names="$names" 'BEGIN { P = split(names, name) }
NR == FNR { last = $1; next }
{
    q = int(4 * $1 / last)
    if (q > 3) q = 3
    for (i = 0; i < P; i++) {
        m = $(3 + 3 * i)
        if (m == 0) continue
        n[q, i]++
        memory[q, i] += m
        if ($(4 + 3 * i) > threads[q, i]) threads[q, i] = $(4 + 3 * i)
        if ($(5 + 3 * i) > files[q, i]) files[q, i] = $(5 + 3 * i)
        if (q) {
            x = $1 / 60e9
            s[i]++; sx[i] += x; sy[i] += m; sxx[i] += x * x; sxy[i] += x * m
        }
    }
    if ($3 == 0) next
    if (!(q in first_time)) { first_time[q] = $1; first_read[q] = $2 }
    end_time[q] = $1; end_read[q] = $2
}
END {
    printf("# quarter  MB/s")
    for (i = 0; i < P; i++) printf("  %9s: kB  threads  files", name[i + 1])
    print ""
    for (q = 0; q < 4; q++) {
        span = end_time[q] - first_time[q]
        printf("# %7d  %4.0f", q + 1, span > 0 ? (end_read[q] - first_read[q]) * 1e3 / span : 0)
        for (i = 0; i < P; i++)
            printf("  %13.0f  %7d  %5d", n[q, i] ? memory[q, i] / n[q, i] : 0, threads[q, i], files[q, i])
        print ""
    }
    for (i = 0; i < P; i++) {
        d = s[i] * sxx[i] - sx[i] * sx[i]
        slope = d > 0 ? (s[i] * sxy[i] - sx[i] * sy[i]) / d : 0
        both = n[1, i] && n[3, i]
        grown = both ? memory[3, i] / n[3, i] - memory[1, i] / n[1, i] : 0
        grows = both && grown > 1024 + 0.01 * memory[1, i] / n[1, i]
        printf("%s %.1f %.0f %s\n", name[i + 1], slope, grown, grows ? "grows" : "flat")
    }
}' samples samples >table
grep '^#' table
for name in $names; do
    # shellcheck disable=SC2046
    set -- $(grep "^$name " table)
    [ "$4" = flat ] && why= || why="$3 kB more in the last quarter than in the second"
    report "memory of $name is flat ($2 kB a minute)" "$why"
done
echo "# $(field during.json frames) frames integrated in $(field during.json seconds) s, $(field during.json frames_per_second) frames/s;" \
    "OCT $(field during_oct.json in) frames in, $(field during_oct.json out) out, $(field during_oct.json dropped) dropped," \
    "$(field during_oct.json failed) failed"
# Latencies by quarters of the series: the mean of their medians, the worst 99 of 100, the longest.
[ "$names" = 'integrate oct' ] || awk -v series="$series" -F '[:,]' '
    /"series"/ { n++ }
    /"(expected|received|integrated|lost|dropped|bad)"/ { gsub(/[ "]/, "", $1); sum[$1] += $2 }
    /"p50"/ { q = int(4 * (n - 1) / series); k[q]++; p50[q] += $2 }
    /"p99"/ && $2 > p99[q] { p99[q] = $2 }
    /"max"/ && $2 > most[q] { most[q] = $2 }
    END {
        print "# quarter  series  latency, ms: median  99 of 100  longest"
        for (q = 0; q < 4; q++)
            if (k[q]) printf("# %7d  %6d  %19.3f  %9.3f  %7.1f\n", q + 1, k[q], p50[q] / k[q], p99[q], most[q])
        printf("# %d images of %d series received, of %d; %d integrated, %d lost, %d dropped, %d bad\n", sum["received"], n,
            sum["expected"], sum["integrated"], sum["lost"], sum["dropped"], sum["bad"])
        exit !(n == series && sum["integrated"] == sum["expected"])
    }' live.json && why= || why="see above"
[ "$names" = 'integrate oct' ] || {
    echo "# $(field stream.json late) of them sent more than 1 ms late, at most $(field stream.json latest_ms) ms"
    [ -n "$why" ] || [ $same = "$series" ] || why="$((series - same)) differ from the first"
    report "$series series of the stream are complete and the same bits" "$why"
}
[ -z "$stopped" ] || {
    echo "1..$number"
    exit 1
}

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

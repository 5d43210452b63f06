#!/bin/sh
# usage: kills.sh AIRY GROUP     (ranks or receiver); by hand, with FAULT_KILLS=N runs to be killed, FAULT_SEED
# ranks: jobs of 1 to 4 ranks, into one file or --per-rank; at a random moment one rank or the launcher gets a signal, mostly
# SIGKILL, and any number of ranks goes on by --resume.
# receiver: a receiver of a stream gets SIGKILL; it goes on by --resume from the stream, played again, or from the file, which is
# killed, too.
# Either way until the output is there, which must be that of an undisturbed run, and again from nothing. Prints TAP.
airy=$1
group=$2
case $airy in /*) ;; *) airy=$PWD/$airy ;; esac
skip() {
    echo "1..0 # SKIP $1"
    exit 0
}
wanted=${FAULT_KILLS:-0}
[ "$wanted" -gt 0 ] || skip "by hand: FAULT_KILLS=N"
case $group in
ranks)
    command -v mpirun >/dev/null || skip "mpirun is missing"
    case $("$airy" --version --verbose) in *"mpi: no"*) skip "this build has no MPI" ;; esac
    ;;
receiver) case $("$airy" --version --verbose) in *"streams: no"*) skip "no libzmq or libcbor" ;; esac ;;
esac
case $TMPDIR in *[[:space:]]*) unset TMPDIR ;; esac # names are not quoted everywhere
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
trap 'exit 1' INT TERM
AIRY_DEVICE=cpu
AIRY_CACHE_DIR=none
export AIRY_DEVICE AIRY_CACHE_DIR OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none # needs ptrace, which containers forbid
case $(mpirun --version 2>/dev/null) in
*"Open MPI"*) flags="-q --oversubscribe --bind-to none" ;;
*) flags= ;;
esac
cd "$top" || exit 1
"$airy" simulate diffraction stack.h5 --detector pilatus_100k --frames 300 --same-frame --increment 50 --write-poni stack.poni \
    --quiet || exit 1
mkdir ran
words="--poni stack.poni --quantile 10,60 --batch 2 --threads 1"
"$airy" integrate stack.h5 $words --quiet -o want.h5 || exit 1

# Numbers from 0 to $1 - 1, one a call, the same for a seed.
awk -v seed="${FAULT_SEED:-1}" -v count=$((40 * wanted + 1000)) 'BEGIN {
    srand(seed)
    while (count--)
        print int(rand() * 1000000)
}' >numbers
exec 3<numbers
draw() { # LIMIT
    read -r number <&3
    drawn=$((number % $1))
}
later() { # up to $1 ms
    draw "$1"
    sleep "$((drawn / 1000)).$(printf %03d $((drawn % 1000)))"
}

ranks_left() { pgrep -f "^$airy integrate stack.h5.*-o $top/ran/out.h5"; }

# One job of ranks, disturbed; the exit code.
run_ranks() {
    draw 4
    count=$((drawn + 1))
    # one goes on without --per-rank, but would not begin so
    each=$files
    if [ -n "$files" ] && [ "$count" = 1 ]; then
        each=
        [ -e ran/out.h5.partial ] || count=2 each=$files
    fi
    # shellcheck disable=SC2086
    timeout -k 5 150 mpirun $flags -n "$count" "$airy" integrate stack.h5 $words $each --resume -o "$top/ran/out.h5" >out 2>err 3<&- &
    process=$!
    later "$span"
    launcher=$(pgrep -P $process)
    draw 4
    signal=KILL
    [ "$drawn" -gt 0 ] || signal=TERM
    draw 3
    if [ "$drawn" = 0 ]; then
        victim=$launcher
    else
        draw "$count"
        victim=$(ranks_left | sed -n "$((drawn + 1))p")
    fi
    # shellcheck disable=SC2086
    hit=no
    [ -z "$victim" ] || ! kill -$signal "$victim" 2>/dev/null || hit="$signal to $([ "$victim" = "$launcher" ] && echo launcher || echo rank) of $count"
    wait $process
    code=$?
    left=1200
    while [ $left -gt 0 ] && [ -n "$(ranks_left)" ]; do
        left=$((left - 1))
        sleep 0.1
    done
    [ -z "$(ranks_left)" ] || wrong="ranks are left 120 s after $hit"
    return $code
}

# One receiver, from the stream or from the file, killed.
run_receiver() {
    draw 3
    from=stack.h5
    sender=
    if [ "$drawn" -gt 0 ]; then
        from=ipc://$top/socket
        "$airy" stream stack.h5 --poni stack.poni --to "$from" --rate 400 --patience 20 --linger 1 --quiet >/dev/null 2>&1 3<&- &
        sender=$!
    fi
    # shellcheck disable=SC2086
    timeout -k 5 150 "$airy" integrate "$from" $words --resume -o "$top/ran/out.h5" >out 2>err 3<&- &
    process=$!
    later "$span"
    victim=$(pgrep -P $process)
    hit=no
    [ -z "$victim" ] || ! kill -KILL "$victim" 2>/dev/null || hit="KILL to the one of $from"
    wait $process
    code=$?
    [ -z "$sender" ] || kill -KILL $sender 2>/dev/null
    [ -z "$sender" ] || wait $sender 2>/dev/null
    return $code
}

# Undisturbed, for the time that it takes.
files=
begun=$(date +%s%N)
if [ "$group" = ranks ]; then
    # shellcheck disable=SC2086
    mpirun $flags -n 3 "$airy" integrate stack.h5 $words -o "$top/ran/out.h5" --quiet || exit 1
else
    "$airy" stream stack.h5 --poni stack.poni --to "ipc://$top/socket" --rate 400 --patience 20 --quiet &
    "$airy" integrate "ipc://$top/socket" $words -o "$top/ran/out.h5" --quiet || exit 1
    wait
fi
span=$((($(date +%s%N) - begun) / 1000000))
"$airy" diff want.h5 ran/out.h5 >/dev/null || exit 1
rm -f ran/*

killed=0
results=0
wrong=
while [ -z "$wrong" ] && { [ $killed -lt "$wanted" ] || [ -n "$(ls ran)" ]; }; do
    "run_$group" 2>/dev/null
    code=$?
    [ "$hit" = no ] || killed=$((killed + 1))
    if [ $code = 0 ] && [ -z "$wrong" ]; then
        results=$((results + 1))
        "$airy" diff want.h5 ran/out.h5 >/dev/null 2>&1 || wrong="result $results is not that of the undisturbed run"
        [ ! -e ran/out.h5.partial ] || wrong="out.h5 and out.h5.partial are both there"
        rm -f ran/*
        draw 2
        files=
        [ "$group$drawn" != ranks1 ] || files=--per-rank
    elif [ "$hit" = no ] && [ -z "$wrong" ]; then
        wrong="it was not disturbed and ended with exit code $code"
    elif [ -e ran/out.h5 ] && [ -z "$wrong" ]; then
        # killed after the last rename: it must be whole
        "$airy" diff want.h5 ran/out.h5 >/dev/null 2>&1 || wrong="out.h5 is there after $hit, and not that of the undisturbed run"
    fi
done
if [ -z "$wrong" ]; then
    echo "ok 1 - kills_$group ($killed killed, $results results)"
else
    echo "not ok 1 - kills_$group (kill $killed, $results results)"
    printf '%s\n' "last: $hit; ${count:-1} ranks $each" "$wrong" "$(head -n 5 err)" "$(ls ran)" | sed 's/^/# /'
fi
echo "1..1"
[ -z "$wrong" ]

#!/bin/sh
# usage: run.sh AIRY LIBRARY GROUP [FILES]     (integrate, commands, opencl, world, kills or stops)
# Runs small commands with LIBRARY (faults.c) preloaded, or for opencl (cl_faults.c) as a layer of OpenCL, which makes one call
# of one kind fail, and looks at what is left:
#   exit code 0 or 1, in time; at most one line on standard error, "airy COMMAND: ..."; outputs under their names only with exit
#   code 0 (with --on-error skip also 3) and then those of an undisturbed run (of several outputs those that were complete stay); nothing else but OUT.partial of `airy integrate` and `airy peaks`, from which --resume makes the
#   undisturbed output.
# world: what a machine does to files rather than to calls: a limit of their size, a disk that is full (where root may mount one),
# a file that is slow, one that FILES (bounds_files.c) is still writing.
# FAULT_POINTS=N: every call 1, 2, 4, ... and N more at random (seed FAULT_SEED) rather than the few of CI; FAULT_POINTS=all: every
# call (either: a disk with 1, 2, ... 63 KiB left). FAULT_KILLS=N: so many killed runs, of stops of each case. FAULT_ONLY=PATTERN:
# only cases whose name matches. FAULT_KINDS='KIND:HOW...': these kinds. Prints TAP.
airy=$1
library=$2
group=$3
files=$4
case $files in /*) ;; *) files=$PWD/$files ;; esac
case $airy in /*) ;; *) airy=$PWD/$airy ;; esac
case $library in /*) ;; *) library=$PWD/$library ;; esac
seed=${FAULT_SEED:-1}
step=2
[ -n "$FAULT_POINTS" ] || step=16
random=${FAULT_POINTS:-1}
[ "$random" != all ] || step=1 random=0
only=${FAULT_ONLY:-*}
case $TMPDIR in *[[:space:]]*) unset TMPDIR ;; esac # names are not quoted everywhere
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
trap 'exit 1' INT TERM
unset AIRY_LOG
AIRY_DEVICE=cpu
AIRY_CACHE_DIR=none
LC_ALL=C
FAULT_LOG=$top/log
export AIRY_DEVICE AIRY_CACHE_DIR LC_ALL FAULT_LOG
in=$top/in
number=0
failed=0
faults=0
all_killed=0
loaded=LD_PRELOAD
if [ "$group" = opencl ]; then
    loaded=OPENCL_LAYERS
    export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable # PoCL compiles for longer than the kernels run
    AIRY_DEVICE=$("$airy" devices | awk -F '"' '$2 == "spec" { spec = $4 } /"usable": true/ && spec ~ /^opencl/ { print spec; exit }')
    [ -n "$AIRY_DEVICE" ] || {
        echo "1..0 # SKIP no OpenCL device"
        exit 0
    }
fi

report() { # NAME COUNT WHY
    number=$((number + 1))
    if [ -z "$3" ]; then
        echo "ok $number - $1 ($2)"
    else
        failed=$((failed + 1))
        echo "not ok $number - $1 ($2)"
        printf '%s\n' "$3" | sed 's/^/# /'
    fi
}

# A file is that of the undisturbed run, byte by byte, or but for its date: in all that airy diff looks at, or, for a file of
# peaks, dataset by dataset.
same() {
    cmp -s "$1" "$2" || "$airy" diff "$1" "$2" >/dev/null 2>&1 || {
        for dataset in sparse_frames/frame_ptr sparse_frames/index sparse_frames/intensity sparse_frames/background_avg \
            sparse_frames/background_std peaks/nPeaks peaks/peakXPosRaw peaks/peakYPosRaw peaks/peakTotalIntensity peaks/peakSNR; do
            "$airy" diff "$1" "$2" --dataset "/entry/$dataset" >/dev/null 2>&1 || return 1
        done
    }
}

# Every file of the folder $1 is in $2 and the same, and none is missing; says what is not.
same_files() {
    for file in "$1"/*; do
        [ -e "$file" ] || continue
        same "$file" "$2/${file##*/}" || echo "${file##*/} is not that of the undisturbed run"
    done
    for file in "$2"/*; do
        [ ! -e "$file" ] || [ -e "$1/${file##*/}" ] || echo "${file##*/} is missing"
    done
}

# What a run with exit code $1 in the folder $2 did wrong; the undisturbed one is $3, its command $4.
judge() {
    lines=$(wc -l <"$top/err")
    [ "$lines" -le 1 ] || echo "$lines lines on standard error"
    [ "$lines" = 0 ] || head -n 1 "$top/err" | grep -q "^airy $4: ." || echo "standard error does not begin with 'airy $4: '"
    case $1 in
    0) same_files "$2" "$3" ;;
    1)
        [ "$lines" = 1 ] || echo "it failed without a message"
        for file in "$2"/*; do
            [ -e "$file" ] || continue
            case $file in
            *.????????.partial) echo "${file##*/} is left" ;;
            *.h5.partial) [ "$4" = integrate ] || [ "$4" = peaks ] || echo "${file##*/} is left" ;;
            *) [ "$outputs" -gt 1 ] && same "$file" "$3/${file##*/}" || echo "${file##*/} is left" ;;
            esac
        done
        ;;
    3) # a frame that could not be read was left out; the output is complete but for it
        case $arguments in *--on-error\ skip*) ;; *) echo "exit code 3" ;; esac
        [ "$(ls "$2")" = "$(ls "$3")" ] || echo "there is $(ls "$2"), not $(ls "$3")"
        "$airy" info "$2/out.h5" >/dev/null || echo "the output cannot be read"
        ;;
    124 | 137) echo "it hangs" ;;
    *) echo "exit code $1" ;;
    esac
}

# The calls of COUNT that are made to fail, one a line: 1, STEP, STEP^2, ... and random ones.
choose() {
    awk -v count="$1" -v step="$step" -v random="$random" -v seed="$2" 'BEGIN {
        srand(seed)
        for (n = 1; n <= count; n = step == 1 ? n + 1 : n * step)
            seen[n] = 1
        for (i = 0; i < random && count > 0; i++)
            seen[1 + int(rand() * count)] = 1
        for (n in seen)
            print n
    }' | sort -n
}

# Run the command of the case in the empty folder $top/ran, preloaded, with the fault of the environment; the exit code.
disturb() {
    rm -rf "$top/ran" "$FAULT_LOG"
    mkdir "$top/ran"
    (cd "$top/ran" && eval "set -- $arguments" && exec env "$loaded=$library" timeout -k 5 180 "$airy" "$@") \
        >"$top/out" 2>"$top/err" </dev/null
}

# Make one kind of call fail in one manner, here and there.
sweep() { # NAME COMMAND KIND:HOW[:stays]
    FAULT_KIND=${3%%:*}
    rest=${3#*:}
    FAULT_HOW=${rest%%:*}
    FAULT_AT=0
    unset FAULT_STAYS
    export FAULT_KIND FAULT_HOW FAULT_AT
    # a layer counts all kinds at once
    if [ "$group" != opencl ] || [ ! -e "$top/calls" ]; then
        disturb
        cp "$FAULT_LOG" "$top/calls"
    fi
    count=$(awk -v kind="$FAULT_KIND" '/^calls/ && $2 > most && (NF == 2 || $3 == kind) { most = $2 } END { print most + 0 }' "$top/calls")
    [ "$count" -gt 0 ] || return 0
    case $rest in *:stays) export FAULT_STAYS=1 ;; esac
    wrong=
    tried=0
    for FAULT_AT in $(choose "$count" "$((seed + number))"); do
        disturb
        code=$?
        grep -q '^fault' "$FAULT_LOG" 2>/dev/null || continue
        tried=$((tried + 1))
        why=$(judge $code "$top/ran" "$top/want" "$2")
        # without an output the answer is what it prints
        [ "$code$outputs" != 00 ] || cmp -s "$top/out" "$top/said" || why="${why}it prints otherwise"
        if [ -z "$why" ] && [ $code = 1 ] && [ "$resumes" = yes ]; then
            (cd "$top/ran" && eval "set -- $arguments" && exec timeout 180 "$airy" "$@" --resume) >/dev/null 2>"$top/again" ||
                why="--resume afterwards: $(head -n 1 "$top/again")"
            why=$why$(same_files "$top/ran" "$top/want" | sed 's/^/after --resume /')
        fi
        [ -z "$why" ] || wrong="$wrong
call $FAULT_AT of $count ($(sed -n 's/^fault .*\///p' "$FAULT_LOG" | head -n 1)), exit code $code: $why
$(head -n 3 "$top/err")"
    done
    unset FAULT_AT FAULT_STAYS
    faults=$((faults + tried))
    report "$1_$(echo "$rest" | tr : _ | sed "s/^/${3%%:*}_/")" "$tried of $count calls" "${wrong#?}"
}

kinds='memory:ENOMEM memory:ENOMEM:stays read:EIO read:short read:EINTR read:end write:EIO write:ENOSPC:stays write:short write:EINTR
    open:EMFILE close:EIO stat:EIO allocate:ENOSPC allocate:EINTR sync:EIO rename:EIO truncate:ENOSPC thread:EAGAIN
    thread:EAGAIN:stays'

if [ "$group" = opencl ]; then
    full=CL_OUT_OF_RESOURCES
    kinds="cl:$full cl:CL_DEVICE_NOT_AVAILABLE:stays cl:$full:stays cl:late
        clCreateBuffer:CL_MEM_OBJECT_ALLOCATION_FAILURE clCreateBuffer:CL_MEM_OBJECT_ALLOCATION_FAILURE:stays
        clEnqueueNDRangeKernel:CL_OUT_OF_RESOURCES clEnqueueNDRangeKernel:late clBuildProgram:CL_BUILD_PROGRAM_FAILURE"
    [ -z "$FAULT_POINTS" ] || kinds="$kinds clGetPlatformInfo:CL_OUT_OF_HOST_MEMORY clGetDeviceIDs:CL_DEVICE_NOT_AVAILABLE
        clGetDeviceInfo:$full clCreateContext:CL_DEVICE_NOT_AVAILABLE clCreateCommandQueue:CL_OUT_OF_HOST_MEMORY
        clCreateProgramWithSource:CL_OUT_OF_HOST_MEMORY clCreateKernel:CL_OUT_OF_HOST_MEMORY clGetProgramInfo:$full
        clGetProgramBuildInfo:CL_OUT_OF_HOST_MEMORY clSetKernelArg:$full clGetKernelWorkGroupInfo:$full clWaitForEvents:$full
        clGetEventInfo:$full clFlush:$full clFinish:$full clEnqueueReadBuffer:$full clEnqueueWriteBuffer:$full
        clEnqueueCopyBuffer:$full clEnqueueReadBufferRect:$full clEnqueueWriteBufferRect:$full clEnqueueCopyBufferRect:$full
        clEnqueueFillBuffer:CL_MEM_OBJECT_ALLOCATION_FAILURE clEnqueueMapBuffer:CL_MAP_FAILURE clEnqueueUnmapMemObject:$full
        clEnqueueMarkerWithWaitList:$full clEnqueueBarrierWithWaitList:$full clFinish:late clEnqueueReadBuffer:late
        clEnqueueWriteBuffer:late clBuildProgram:CL_OUT_OF_HOST_MEMORY:stays clCreateBuffer:CL_OUT_OF_HOST_MEMORY"
fi

kinds=${FAULT_KINDS:-$kinds}

# NAME COMMAND ARGUMENTS: the command's words, and all arguments as the shell reads them
fault() {
    # shellcheck disable=SC2254
    case $1 in $only) ;; *) return 0 ;; esac
    arguments="$2 $3 --quiet"
    resumes=no
    case "$2 $3" in integrate*-o\ out.h5*) resumes=yes ;; esac
    rm -rf "$top/want" "$top/calls"
    mkdir "$top/want"
    if ! (cd "$top/want" && eval "set -- $arguments" && exec "$airy" "$@") >"$top/said" 2>"$top/err" </dev/null; then
        report "$1" undisturbed "$(cat "$top/err")"
        return
    fi
    outputs=$(ls "$top/want" | wc -l)
    for kind in $kinds; do
        sweep "$1" "$2" "$kind"
    done
}

# NAME COMMAND ARGUMENTS KIND:HOW: the same, of every call of a kind.
every() {
    kept_step=$step kept_random=$random kept_kinds=$kinds
    step=1 random=0 kinds=$4
    fault "$1" "$2" "$3"
    step=$kept_step random=$kept_random kinds=$kept_kinds
}

# OUT.partial that has rows, and one call after the other of one kind fails while these are compared with their frames and the run
# goes on: it ends with one line. The input is cut, so that no run is complete.
compared() { # NAME ARGUMENTS KIND:HOW
    # shellcheck disable=SC2254
    case $1 in $only) ;; *) return 0 ;; esac
    arguments="integrate $2 -o out.h5 --quiet"
    rm -rf "$top/begun" "$top/want"
    mkdir "$top/begun" "$top/want"
    (cd "$top/begun" && eval "set -- $arguments" && exec "$airy" "$@") >/dev/null 2>&1 </dev/null
    wrong=
    [ -e "$top/begun/out.h5.partial" ] || wrong="
no rows to begin with"
    export FAULT_KIND=${3%%:*} FAULT_HOW=${3#*:} FAULT_AT=1
    outputs=1
    while [ -z "$wrong" ]; do
        rm -rf "$top/ran" "$FAULT_LOG"
        cp -r "$top/begun" "$top/ran"
        (cd "$top/ran" && eval "set -- $arguments --resume" && exec env "$loaded=$library" timeout -k 5 60 "$airy" "$@") \
            >"$top/out" 2>"$top/err" </dev/null
        code=$?
        grep -q '^fault' "$FAULT_LOG" 2>/dev/null || break
        why=$(judge $code "$top/ran" "$top/want" integrate)
        [ $code != 0 ] || why="$why exit code 0"
        [ -z "$why" ] || wrong="
call $FAULT_AT, exit code $code: $why
$(head -n 3 "$top/err")"
        FAULT_AT=$((FAULT_AT + 1))
    done
    [ -n "$wrong" ] || [ "$FAULT_AT" -gt 2 ] || wrong="
too few calls"
    faults=$((faults + FAULT_AT - 1))
    report "$1" "$((FAULT_AT - 1)) calls" "${wrong#?}"
    unset FAULT_KIND FAULT_HOW FAULT_AT
}

# A file that a command prints is on the disk, and so is its name.
printed_file() {
    # shellcheck disable=SC2254
    case printed_file in $only) ;; *) return 0 ;; esac
    arguments='stats $in/sky.npy --profile=p.json --quiet'
    wrong=
    export FAULT_KIND=sync FAULT_HOW=EIO FAULT_AT=0
    disturb
    [ "$(grep -c '^calls 2' "$FAULT_LOG")" = 1 ] || wrong="
not both are synced: $(cat "$FAULT_LOG")"
    report printed_file 1 "${wrong#?}"
    unset FAULT_KIND FAULT_HOW FAULT_AT
}

# Where the name is taken that a file has until it is whole, it gets another: of all of a command's outputs, one after the other.
taken() { # ARGUMENTS
    # shellcheck disable=SC2254
    case taken_${1%% *} in $only) ;; *) return 0 ;; esac
    arguments="$1 --quiet"
    wrong=
    export FAULT_KIND=open FAULT_HOW=EEXIST FAULT_AT=1
    while :; do
        disturb || wrong="$wrong
call $FAULT_AT: $(cat "$top/err")"
        grep -q '^fault' "$FAULT_LOG" 2>/dev/null || break
        FAULT_AT=$((FAULT_AT + 1))
    done
    [ "$FAULT_AT" -gt 1 ] || wrong="$wrong
it creates nothing"
    faults=$((faults + FAULT_AT - 1))
    report "taken_${1%% *}" "$((FAULT_AT - 1)) calls" "${wrong#?}"
    unset FAULT_KIND FAULT_HOW FAULT_AT
}

# Kill runs at random moments, and let --resume go on until the output is there, and again; $3 killed runs.
kills() { # NAME ARGUMENTS KILLS
    # shellcheck disable=SC2254
    case $1 in $only) ;; *) return 0 ;; esac
    name=$1
    arguments="$2 --quiet"
    wanted=$3
    rm -rf "$top/want" "$top/ran"
    mkdir "$top/want" "$top/ran"
    span=
    for try in 1 2 3; do # the shortest: in one of them the machine may have stood still
        rm -f "$top/want/"*
        begun=$(date +%s%N)
        if ! (cd "$top/want" && eval "set -- $arguments" && exec "$airy" "$@") >/dev/null 2>"$top/err"; then
            report "$name" undisturbed "$(cat "$top/err")"
            return
        fi
        took=$(($(date +%s%N) - begun))
        [ -n "$span" ] && [ "$span" -lt $took ] || span=$took
    done
    # within the time of an undisturbed run
    awk -v seed="$seed" -v count=$((50 * wanted)) -v span="$span" 'BEGIN {
        srand(seed)
        split("KILL TERM INT", word, " ")
        while (count--)
            printf "%.4f %s\n", rand() * span / 1e9, word[1 + int(rand() * 3)]
    }' >"$top/moments"
    killed=0
    results=0
    strays=0
    outputs=1
    wrong=
    while [ -z "$wrong" ] && { [ $killed -lt "$wanted" ] || [ -e "$top/ran/out.h5.partial" ]; } && read -r moment signal <&3; do
        (cd "$top/ran" && eval "set -- $arguments" && exec "$airy" "$@" --resume) >/dev/null 2>"$top/err" </dev/null 3<&- &
        process=$!
        sleep "$moment"
        kill "-$signal" $process 2>/dev/null
        wait $process 2>/dev/null
        code=$?
        case $code in
        0)
            wrong=$(same_files "$top/ran" "$top/want")
            results=$((results + 1))
            rm -rf "$top/ran"
            mkdir "$top/ran"
            ;;
        1 | 130 | 137 | 143)
            killed=$((killed + 1))
            # killed outright before OUT.partial or OUT got its name: nobody reads this file again
            for file in "$top"/ran/out.h5.????????.partial; do
                [ $code = 137 ] && [ -e "$file" ] && rm "$file" && strays=$((strays + 1))
                [ ! -e "$file" ] || wrong="${file##*/} is left"
            done
            [ $code != 1 ] || wrong=$(judge 1 "$top/ran" "$top/want" integrate)
            # killed after the last rename
            if [ $code != 1 ] && [ -e "$top/ran/out.h5" ]; then
                same "$top/ran/out.h5" "$top/want/out.h5" || wrong="half an output"
                rm -rf "$top/ran" # else the next one is refused for it
                mkdir "$top/ran"
            fi
            ;;
        *) wrong="exit code $code" ;;
        esac
        [ -z "$wrong" ] || wrong="SIG$signal after $moment s, kill $killed, exit code $code: $wrong
$(head -n 3 "$top/err")"
    done 3<"$top/moments"
    [ -n "$wrong" ] || [ $killed -ge "$wanted" ] || wrong="only $killed of $wanted runs were killed"
    report "$name" "$killed killed, $results results, $strays nameless beginnings left" "$wrong"
    all_killed=$((all_killed + killed))
}

# What a run that a signal ended with exit code $1 left in $top/ran; $2: its command, $3: what was there before. A file under its
# name is whole, and a temporary file stays after SIGKILL alone.
judge_stop() {
    lines=$(wc -l <"$top/err")
    case $1 in
    0 | 137) ;;
    1)
        [ "$lines" = 1 ] && grep -q "^airy $2: .*cancelled" "$top/err" || echo "it did not say that it was stopped"
        ;;
    130 | 143) [ "$lines" = 0 ] || echo "$lines lines on standard error" ;;
    *) echo "exit code $1" ;;
    esac
    for file in "$top/ran"/*; do
        [ -e "$file" ] || continue
        case $file in
        *.????????.partial) [ "$1" = 137 ] || echo "${file##*/} is left" ;;
        *.h5.partial) [ "$2" = peaks ] || echo "${file##*/} is left" ;;
        *) same "$file" "$top/want/${file##*/}" || echo "${file##*/} is not that of the undisturbed run" ;;
        esac
    done
    there=$(ls "$top/ran" | grep -vc '[.]partial$')
    case $1,$3 in
    0,*) [ "$there" = "$outputs" ] || echo "$there of $outputs files are there after exit code 0" ;;
    *,old) [ "$there" = "$outputs" ] || [ "$outputs" -gt 1 ] || echo "the file that was there before is gone" ;;
    esac
}

# Where a text series says how it goes on, it does, and the first files without a gap are there.
go_on_with() {
    rest=$(sed -n 's/.*go on with --frames[= ]/--frames=/p' "$top/err")
    [ -n "$rest" ] || return 0
    (cd "$top/ran" && eval "set -- $arguments" && exec timeout 180 "$airy" "$@" $rest) >/dev/null 2>"$top/again" ||
        echo "$rest afterwards: $(head -n 1 "$top/again")"
    same_files "$top/ran" "$top/want" | sed 's/^/after --frames: /'
}

# NAME COMMAND ARGUMENTS: kill runs that cannot be resumed at random moments, in an empty folder or with --force over what an
# earlier run made; then the same run in the same folder works and leaves nothing else.
stops() {
    # shellcheck disable=SC2254
    case $1 in $only) ;; *) return 0 ;; esac
    name=$1
    arguments="$2 $3 --quiet"
    rm -rf "$top/want"
    mkdir "$top/want"
    span=
    for try in 1 2 3; do
        rm -f "$top/want/"*
        begun=$(date +%s%N)
        if ! (cd "$top/want" && eval "set -- $arguments" && exec "$airy" "$@") >/dev/null 2>"$top/err"; then
            report "$name" undisturbed "$(cat "$top/err")"
            return
        fi
        took=$(($(date +%s%N) - begun))
        [ -n "$span" ] && [ "$span" -lt $took ] || span=$took
    done
    outputs=$(ls "$top/want" | wc -l)
    wanted=${FAULT_KILLS:-3}
    awk -v seed="$((seed + number))" -v count=$((20 * wanted)) -v span="$span" 'BEGIN {
        srand(seed)
        split("KILL TERM INT", word, " ")
        while (count--)
            printf "%.4f %s %s\n", rand() * span / 1e9, word[1 + count % 3], rand() < 0.3 ? "old" : "new"
    }' >"$top/moments"
    hits=0
    said=0
    whole=0
    strays=0
    wrong=
    while [ -z "$wrong" ] && [ $hits -lt "$wanted" ] && read -r moment signal before <&3; do
        rm -rf "$top/ran"
        mkdir "$top/ran"
        force=
        [ $before = new ] || { cp "$top/want/"* "$top/ran" && force=--force; }
        # a shell lets SIGINT be ignored by what runs beside it
        (cd "$top/ran" && eval "set -- $arguments $force" && exec $heard "$airy" "$@") >/dev/null 2>"$top/err" </dev/null 3<&- &
        process=$!
        sleep "$moment"
        kill "-$signal" $process 2>/dev/null
        wait $process 2>/dev/null
        code=$?
        [ $code = 0 ] || hits=$((hits + 1))
        [ $code != 1 ] || said=$((said + 1))
        [ $code != 0 ] || whole=$((whole + 1))
        wrong=$(judge_stop $code "$2" $before)
        for file in "$top/ran"/*.partial; do
            [ ! -e "$file" ] || strays=$((strays + 1))
        done
        if [ -z "$wrong" ] && [ $code = 1 ] && [ $before = new ]; then
            wrong=$(go_on_with)
        fi
        if [ -z "$wrong" ] && [ $code != 0 ]; then
            again=
            [ ! -e "$top/ran/out.h5.partial" ] || again=--resume
            [ "$(ls "$top/ran" | grep -vc '[.]partial$')" = 0 ] || again=--force
            (cd "$top/ran" && eval "set -- $arguments $again" && exec timeout 180 "$airy" "$@") >/dev/null 2>"$top/again" ||
                wrong="the next run: $(head -n 1 "$top/again")"
            wrong=$wrong$(same_files "$top/ran" "$top/want" | sed 's/^/after the next run: /')
        fi
        [ -z "$wrong" ] || wrong="SIG$signal after $moment s, kill $hits, exit code $code, $before: $wrong
$(head -n 3 "$top/err")"
    done 3<"$top/moments"
    [ -n "$wrong" ] || [ $hits -ge "$wanted" ] || wrong="only $hits of $wanted runs were killed"
    report "$name" "$hits stopped, $said of them with a message, $whole whole, $strays temporary files after SIGKILL" "$wrong"
    all_killed=$((all_killed + hits))
}

# NAME COMMAND ARGUMENTS: outputs that find no room, by a limit of their size and on a disk of $top/disk; KB are tried.
no_room() {
    # shellcheck disable=SC2254
    case $1 in $only) ;; *) return 0 ;; esac
    arguments="$2 $3 --quiet"
    rm -rf "$top/want"
    mkdir "$top/want"
    if ! (cd "$top/want" && eval "set -- $arguments" && exec "$airy" "$@") >/dev/null 2>"$top/err" </dev/null; then
        report "$1" undisturbed "$(cat "$top/err")"
        return
    fi
    outputs=$(ls "$top/want" | wc -l)
    wrong=
    tried=0
    rooms='1 4 16 60'
    [ -z "$FAULT_POINTS" ] || rooms=$(seq 1 63)
    for room in $rooms; do
        for how in limit disk; do
            rm -rf "$top/ran" "$top/disk/"*
            [ $how = disk ] || mkdir "$top/ran"
            [ $how = limit ] || { [ -d "$top/disk" ] && ln -s "$top/disk" "$top/ran"; } || continue
            # of the disk's 64 KiB
            [ $how = limit ] || head -c $(((64 - room) * 1024)) /dev/zero >"$top/disk/.taken" 2>/dev/null
            (cd "$top/ran" && eval "set -- $arguments" && { [ $how = disk ] || ulimit -f "$((room * 2))"; } &&
                exec timeout -k 5 180 "$airy" "$@") >"$top/out" 2>"$top/err" </dev/null
            code=$?
            faults=$((faults + 1))
            tried=$((tried + 1))
            why=$(judge $code "$top/ran" "$top/want" "$2")
            [ -z "$why" ] || wrong="$wrong
$room KiB by $how, exit code $code: $why
$(head -n 3 "$top/err")"
        done
    done
    report "$1" "$tried times" "${wrong#?}"
}

geometry='--pixel 1e-4,1e-4 --dist 0.1 --poni1 0 --poni2 0 --wavelength 1e-10 --bins 10 --threads 1'

# SIGNAL: a run whose every read takes 50 ms ends within a second, and --resume makes the undisturbed output. A machine that others
# use, too, may stand still for that second, but not time after time.
slow_file() {
    # shellcheck disable=SC2254
    case slow_file_$1 in $only) ;; *) return 0 ;; esac
    rm -rf "$top/want"
    mkdir "$top/want"
    "$files" "$in/slow.h5" 400 16 16 fixed 2
    arguments="integrate \$in/slow.h5 $geometry --batch 100 -o out.h5 --quiet"
    (cd "$top/want" && eval "set -- $arguments" && exec "$airy" "$@") >/dev/null 2>&1
    outputs=1
    for try in 1 2 3 4 5; do
        stop_slow "$1"
        [ $took -ge 1000 ] || break
    done
    [ $took -lt 1000 ] || why="$why it went on for $took ms"
    (cd "$top/ran" && eval "set -- $arguments" && exec timeout 180 "$airy" "$@" --resume) >/dev/null 2>"$top/again" ||
        why="$why --resume: $(head -n 1 "$top/again")"
    why=$why$(same_files "$top/ran" "$top/want")
    faults=$((faults + 1))
    report "slow_file_$1" "$took ms" "$why"
}

# Start $arguments, whose reads are slow, as $process, and wait until FILE is there.
start_slow() { # FILE
    rm -rf "$top/ran"
    mkdir "$top/ran"
    (cd "$top/ran" && eval "set -- $arguments" && LD_PRELOAD=$library FAULT_KIND=read FAULT_AT=1 FAULT_HOW=slow FAULT_STAYS=1 \
        exec "$airy" "$@") >/dev/null 2>"$top/err" </dev/null &
    process=$!
    left=600
    while [ ! -e "$top/ran/$1" ] && [ $left -gt 0 ] && kill -0 $process 2>/dev/null; do
        sleep 0.1
        left=$((left - 1))
    done
}

# A text series that is stopped when one file is missing, of every other frame: the way that it names leads to the files of the
# undisturbed run. Where the machine stood still until all were there, once more.
slow_texts() {
    # shellcheck disable=SC2254
    case slow_texts in $only) ;; *) return 0 ;; esac
    rm -rf "$top/want"
    mkdir "$top/want"
    "$files" "$in/slow.h5" 400 16 16 fixed 2
    arguments="integrate \$in/slow.h5 $geometry --batch 1 --frames 10:90:2 --average 20 -o out.dat --quiet"
    (cd "$top/want" && eval "set -- $arguments" && exec "$airy" "$@") >/dev/null 2>&1
    outputs=2
    for try in 1 2 3 4 5; do
        start_slow out_000010.dat
        kill -TERM $process
        wait $process
        code=$?
        [ $code = 0 ] || break
    done
    why=$(judge $code "$top/ran" "$top/want" integrate)
    grep -q 'cancelled after 20 of 40 frames; go on with --frames=50:90:2 --output=out_000050[.]dat$' "$top/err" || why="$why
$(head -n 1 "$top/err")"
    why=$why$(go_on_with)
    faults=$((faults + 1))
    report slow_texts "exit code $code" "$why"
}

# How long it goes on after SIGNAL, in $took, and what is wrong, in $why.
stop_slow() { # SIGNAL
    start_slow out.h5.partial
    sleep 1
    begun=$(date +%s%N)
    kill "-$1" $process
    wait $process
    code=$?
    took=$((($(date +%s%N) - begun) / 1000000))
    why=$(judge $code "$top/ran" "$top/want" integrate)
    [ $code = 1 ] || why="$why exit code $code"
}

# A stack to which another process adds a frame each 5 ms: every run sees those that are there, and their patterns are those of
# the whole file; one that asks for others says how many there are. Where no run came to its end while the file grew, once more.
growing_file() {
    # shellcheck disable=SC2254
    case growing_file in $only) ;; *) return 0 ;; esac
    for try in 1 2 3 4 5; do
        rm -rf "$top/ran"
        mkdir "$top/ran"
        cd "$top/ran" || exit 1
        why=
        seen=0
        see_growth
        [ $seen = 0 ] || break
    done
    # shellcheck disable=SC2086
    "$airy" integrate grow.h5 $geometry -o all.h5 --quiet 2>"$top/err" || why="$why $(head -n 1 "$top/err")"
    "$airy" convert all.h5::/entry/integrate/result/intensity -o all.npy --quiet
    tail -c +129 all.npy >all.rows
    [ "$(wc -c <all.rows)" = 16000 ] || why="$why $(wc -c <all.rows) bytes of patterns"
    for part in part.*.npy; do
        tail -c +129 "$part" >part.rows
        cmp -s -n "$(wc -c <part.rows)" part.rows all.rows || why="$why $part has other patterns than the whole file"
    done
    cd "$in" || exit 1
    faults=$((faults + seen))
    [ $seen -gt 0 ] || why="$why nothing was seen while it grew"
    report growing_file "$seen runs while it grew" "$why"
}

# Runs until the file is complete: those that saw something are counted in $seen, what is wrong is added to $why.
see_growth() {
    "$files" grow.h5 400 16 16 swmr 2 &
    process=$!
    while kill -0 $process 2>/dev/null; do
        # shellcheck disable=SC2086
        "$airy" integrate grow.h5 $geometry -o part.h5 --force --quiet 2>"$top/err"
        code=$?
        if [ $code = 0 ]; then
            seen=$((seen + 1))
            "$airy" convert part.h5::/entry/integrate/result/intensity -o part.$seen.npy --force --quiet
        else
            # the file is not a file yet, or has no frame; or its index was read before the frame's bytes were there
            { [ $code = 1 ] && [ "$(wc -l <"$top/err")" = 1 ] && { [ $seen = 0 ] || grep -q 'may still be written' "$top/err"; }; } || why="exit code $code: $(head -n 3 "$top/err")"
        fi
        # shellcheck disable=SC2086
        "$airy" integrate grow.h5 $geometry --frames 5000 -o more.h5 --force --quiet 2>"$top/err"
        code=$?
        { [ $code != 0 ] && [ $code -le 2 ] && [ "$(wc -l <"$top/err")" = 1 ]; } || why="frame 5000: exit code $code: $(head -n 3 "$top/err")"
    done
}

mkdir "$in"
cd "$in" || exit 1
tiff=yes
case $("$airy" --version --verbose) in *"tiff: no"*) tiff= ;; esac
echo '{"samples": 64, "lines": 8, "dtype": "u16", "background": "mean", "window": {"kind": "hann"}}' >plan.json
if ! { "$airy" simulate diffraction small.h5 --detector pilatus_100k --frames 4 --spots 5 --seed 1 --write-poni small.poni --quiet &&
    "$airy" integrate small.h5 --poni small.poni --bins 30 --error-model poisson -o patterns.h5 --quiet &&
    "$airy" peaks small.h5 -o peaks.h5 --quiet &&
    "$airy" simulate sky sky.npy --height 64 --width 96 --sources 9 --source none --seed 1 --quiet &&
    "$airy" threshold sky.npy --above 0.02 -o levels.npy --quiet &&
    "$airy" simulate diffraction masked.h5 --detector pilatus_100k --frames 4 --gaps --seed 1 --quiet &&
    "$airy" convert levels.npy -o levels.fits --quiet &&
    "$airy" convert sky.npy -o sky.fits --quiet &&
    { [ -z "$tiff" ] || "$airy" convert sky.npy -o sky.tif --quiet; } &&
    "$airy" convert sky.npy -o sky.h5 --quiet &&
    "$airy" reduce small.h5 -o mean.edf --quiet &&
    "$airy" reduce small.h5 --hot 6 -o hot.npy --quiet &&
    "$airy" compress small.h5 packed.h5 --quiet &&
    "$airy" simulate kernel kernel.npy --quiet &&
    "$airy" simulate oct mirror.npy --reflectors 500:-10 --lines 8 --quiet &&
    "$airy" simulate oct oct.raw --samples 64 --lines 8 --frames 4 --seed 1 --quiet; } >/dev/null 2>"$top/err"; then
    echo "Bail out! the inputs could not be made: $(cat "$top/err")"
    exit 1
fi
case $group in
integrate)
    usual='$in/small.h5 --poni $in/small.poni --bins 50 --error-model poisson --batch 1 --threads 2'
    taken "integrate $usual -o out.h5"
    fault threads integrate "$usual -o out.h5"
    fault serial integrate "$usual --layout serial -o out.h5"
    fault two_d integrate "$usual --bins 30x8 -o out.h5"
    fault nxazint integrate "$usual --format nxazint -o out.h5"
    fault clip integrate "$usual --clip 3 --roi 1,2 -o out.h5"
    fault masked integrate '$in/masked.h5 --bins 50 --threads 2 -o out.h5'
    fault corrected integrate "$usual --mask \$in/hot.npy --flat \$in/mean.edf --average all -o out.h5"
    fault edf integrate '$in/mean.edf --poni $in/small.poni --bins 50 -o out.h5'
    fault text integrate "$usual --frames 0 -o out.xye"
    fault texts integrate "$usual --frames 0:3 -o out.dat"
    fault texts_writers integrate "\$in/small.h5 --poni \$in/small.poni --bins 50 --error-model poisson --batch 1 --threads 16 -o out.dat"
    fault table integrate "$usual --one-table -o out.dat"
    # files that are hashed for the configuration, and the output
    every table_files integrate "$usual --one-table -o out.dat" stat:EIO
    ;;
commands)
    fault compress compress '$in/small.h5 out.h5'
    fault decompress decompress '$in/packed.h5 out.h5'
    fault convert_npy convert '$in/small.h5 -o out.npy'
    fault convert_frames convert '$in/small.h5 --frames 0:4 -o out.h5 --threads 2'
    fault convert_skip convert '$in/packed.h5 --on-error skip -o out.h5 --threads 2'
    fault convert_fits convert '$in/sky.npy -o out.fits'
    fault convert_h5 convert '$in/sky.npy -o out.h5'
    fault convert_edf convert '$in/sky.npy -o out.edf'
    fault convert_png convert '$in/levels.npy -o out.png'
    [ -z "$tiff" ] || fault convert_tif convert '$in/sky.npy -o out.tif'
    fault read_fits convert '$in/sky.fits -o out.npy'
    [ -z "$tiff" ] || fault read_tif convert '$in/sky.tif -o out.npy'
    fault read_h5 convert '$in/sky.h5 -o out.npy'
    fault view view '$in/sky.fits -o out.png'
    fault filter filter 'median $in/sky.npy -o out.npy --size 3'
    fault convolve convolve '$in/sky.npy --kernel $in/kernel.npy -o out.npy'
    fault threshold threshold '$in/sky.npy --above 0.02 -o out.npy'
    fault reduce reduce '$in/small.h5 -o out.npy'
    fault reduce_median reduce '$in/small.h5 --by median -o out.h5'
    fault reduce_passes reduce '$in/small.h5 --by median --memory-limit 2050k --threads 1 -o out.npy'
    fault peaks peaks '$in/small.h5 -o out.h5 --threads 2'
    fault densify densify '$in/peaks.h5 -o out.h5'
    fault compress_some compress '$in/small.h5 out.h5 --frames 1:4:2 --memory-limit 3M --threads 3'
    fault compress_series compress '$in/small.h5 out_master.h5 --frames-per-file 3 --threads 2'
    fault decompress_skip decompress '$in/packed.h5 out.h5 --on-error skip --threads 2'
    fault densify_skip densify '$in/peaks.h5 -o out.h5 --on-error skip --threads 2'
    fault replay integrate '$in/small.h5 --config $in/patterns.h5 --threads 2 -o out.h5'
    fault watch watch '$in/patterns.h5 --count 1 --json'
    fault merge merge '$in/patterns.h5 $in/patterns.h5 -o out.h5'
    printed_file
    taken 'stats $in/sky.npy --profile=p.json'
    for format in npy fits h5 edf png ${tiff:+tif}; do
        taken "convert \$in/levels.npy -o out.$format"
    done
    taken 'label $in/sky.npy -o out.npy --table out.csv'
    taken 'sources $in/sky.fits --catalog out.fits --regions out.reg --segmentation seg.npy'
    taken 'compress $in/small.h5 out_master.h5 --frames-per-file 3'
    taken 'peaks $in/small.h5 -o out.h5'
    taken 'merge $in/patterns.h5 $in/patterns.h5 -o out.h5'
    taken 'oct $in/oct.raw --plan $in/plan.json -o out.h5'
    fault label label '$in/sky.npy -o out.npy --table out.csv'
    fault sources sources '$in/sky.npy --method simple --catalog out.csv'
    fault sources_full sources '$in/sky.fits --catalog out.fits --regions out.reg --segmentation seg.npy'
    fault oct_calibrate 'oct calibrate' '$in/mirror.npy -o out.json'
    fault simulate_diffraction 'simulate diffraction' 'out.h5 --detector pilatus_100k --frames 2 --seed 1'
    fault simulate_sky 'simulate sky' 'out.fits --height 64 --width 64 --seed 1'
    fault simulate_oct 'simulate oct' 'out.npy --samples 64 --lines 8 --seed 1'
    fault oct oct '$in/oct.raw --plan $in/plan.json -o out.npy'
    fault oct_h5 oct '$in/oct.raw --plan $in/plan.json -o out.h5'
    ;;
opencl)
    usual='$in/small.h5 --poni $in/small.poni --bins 50 --error-model poisson --batch 1'
    fault cl_integrate integrate "$usual -o out.h5"
    head -c $(($(wc -c <small.h5) - 20000)) small.h5 >cut.h5
    compared cl_compared '$in/cut.h5 --poni $in/small.poni --bins 50 --batch 1' clEnqueueNDRangeKernel:CL_OUT_OF_RESOURCES
    compared cl_compared_follow '$in/cut.h5 --poni $in/small.poni --bins 50 --follow --follow-timeout 0.2' clEnqueueNDRangeKernel:CL_OUT_OF_RESOURCES
    fault cl_oct oct '$in/oct.raw --plan $in/plan.json -o out.npy'
    fault cl_peaks peaks '$in/small.h5 -o out.h5'
    fault cl_label label '$in/sky.npy -o out.npy --table out.csv'
    fault cl_blur blur '$in/sky.npy --sigma 2 -o out.npy'
    [ -z "$FAULT_POINTS" ] || {
        fault cl_two_d integrate "$usual --bins 30x8 -o out.h5"
        fault cl_clip integrate "$usual --clip 3 -o out.h5"
        fault cl_median integrate "$usual --quantile 50,50 -o out.h5"
        fault cl_masked integrate '$in/masked.h5 --bins 50 -o out.h5'
        fault cl_oct_h5 oct '$in/oct.raw --plan $in/plan.json -o out.h5'
        fault cl_filter filter 'median $in/sky.npy -o out.npy --size 3'
        fault cl_convolve convolve '$in/sky.npy --kernel $in/kernel.npy -o out.npy'
        fault cl_threshold threshold '$in/sky.npy --above 0.02 -o out.npy'
        fault cl_reduce reduce '$in/small.h5 -o out.npy'
        fault cl_reduce_median reduce '$in/small.h5 --by median -o out.npy'
        fault cl_sources sources '$in/sky.npy --method simple --catalog out.csv'
        fault cl_stats stats '$in/sky.npy'
        fault cl_clip_image clip '$in/sky.npy'
    }
    ;;
world)
    if [ "$(id -u)" = 0 ] && mkdir "$top/disk" && ! mount -t tmpfs -o size=64k none "$top/disk" 2>/dev/null; then
        rmdir "$top/disk"
    fi
    trap 'umount "$top/disk" 2>/dev/null; rm -rf "$top"' EXIT
    no_room room_integrate integrate '$in/small.h5 --poni $in/small.poni --bins 2000 --batch 1 --threads 2 -o out.h5'
    no_room room_text integrate '$in/small.h5 --poni $in/small.poni --bins 2000 --one-table -o out.dat'
    no_room room_texts integrate '$in/small.h5 --poni $in/small.poni --bins 2000 --batch 1 --threads 16 -o out.dat'
    no_room room_compress compress '$in/small.h5 out.h5'
    no_room room_series compress '$in/small.h5 out_master.h5 --frames-per-file 3'
    no_room room_decompress decompress '$in/packed.h5 out.h5'
    no_room room_densify densify '$in/peaks.h5 -o out.h5'
    no_room room_convert convert '$in/small.h5 --frames 0:4 -o out.h5 --threads 2'
    no_room room_mean reduce '$in/small.h5 -o out.npy'
    no_room room_median reduce '$in/small.h5 --by median --memory-limit 2050k --threads 1 -o out.h5'
    no_room room_simulate 'simulate diffraction' 'out.h5 --detector pilatus_100k --frames 2 --seed 1'
    no_room room_simulate_oct 'simulate oct' 'out.raw --samples 64 --lines 64 --frames 16 --seed 1'
    no_room room_npy convert '$in/small.h5 -o out.npy'
    no_room room_fits convert '$in/sky.npy -o out.fits'
    [ -z "$tiff" ] || no_room room_tif convert '$in/sky.npy -o out.tif'
    no_room room_png view '$in/sky.fits -o out.png'
    no_room room_peaks peaks '$in/small.h5 -o out.h5 --threads 2'
    no_room room_oct_npy oct '$in/oct.raw --plan $in/plan.json -o out.npy'
    no_room room_oct oct '$in/oct.raw --plan $in/plan.json -o out.h5'
    slow_file TERM
    slow_file INT
    slow_texts
    growing_file
    ;;
kills)
    many=$(yes '$in/small.h5' | head -n 60 | tr '\n' ' ')
    all=${FAULT_KILLS:-20}
    options="$many --poni \$in/small.poni --batch 1 --bins 200 --error-model poisson --threads 2 -o out.h5"
    kills kills_threads "integrate $options" $(((all + 1) / 2))
    kills kills_serial "integrate $options --layout serial" $((all / 2))
    ;;
stops)
    heard=
    ! env --default-signal=INT true 2>/dev/null || heard='env --default-signal=INT,TERM'
    "$airy" simulate diffraction many.h5 --detector pilatus_100k --frames 40 --spots 5 --seed 1 --quiet &&
        "$airy" peaks many.h5 -o many_peaks.h5 --quiet &&
        "$airy" compress many.h5 many_packed.h5 --quiet &&
        "$airy" simulate oct many.raw --samples 512 --lines 256 --frames 40 --seed 1 --quiet || exit 1
    echo '{"samples": 512, "lines": 256, "dtype": "u16", "background": "mean", "window": {"kind": "hann"}}' >many.json
    usual='$in/many.h5 --poni $in/small.poni --bins 200 --error-model poisson --batch 1'
    stops stop_texts integrate "$usual --threads 16 -o out.dat"
    stops stop_table integrate "$usual --threads 4 --one-table -o out.dat"
    stops stop_peaks peaks '$in/many.h5 -o out.h5 --threads 4'
    stops stop_mean reduce "$(yes '$in/many.h5' | head -n 20 | tr '\n' ' ') -o out.npy --threads 2"
    stops stop_median reduce '$in/many.h5 --by median --memory-limit 4M --threads 1 -o out.h5'
    stops stop_compress compress '$in/many.h5 out.h5 --threads 4'
    stops stop_series compress '$in/many.h5 out_master.h5 --frames-per-file 8 --threads 4'
    stops stop_decompress decompress '$in/many_packed.h5 out.h5 --threads 4'
    stops stop_densify densify '$in/many_peaks.h5 -o out.h5 --threads 4'
    stops stop_convert convert '$in/many.h5 --frames 0:40 -o out.h5 --threads 4'
    stops stop_simulate 'simulate diffraction' 'out.h5 --detector pilatus_100k --frames 40 --seed 1'
    stops stop_simulate_oct 'simulate oct' 'out.raw --samples 512 --lines 256 --frames 40 --seed 1'
    stops stop_oct oct '$in/many.raw --plan $in/many.json -o out.h5 --threads 2 --memory-limit 12M'
    stops stop_oct_npy oct '$in/many.raw --plan $in/many.json -o out.npy --threads 2 --memory-limit 12M'
    ;;
esac
echo "1..$number"
[ "$group" = kills ] || [ "$group" = stops ] && echo "# $all_killed runs killed, $failed of $number cases failed" ||
    echo "# $faults faults injected, $failed of $number cases failed"
[ $failed = 0 ]

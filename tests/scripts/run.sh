#!/bin/sh
# usage: run.sh BUILD SOURCE
# Runs each script of the repository once, in small, so that none stops unnoticed: TAP, a case a script. Run elsewhere, in full:
# api, deps, fuzz, symbols, test (with count and failures) by .ci/run, options by tests/cli, gallery by tests/install, layers, words and
# pages (with pictures) by the tests of these names, embed_kernels by the build. What takes minutes or a network (coverage, deb,
# oclgrind, walk) is only parsed here.
build=$1
source=$2
airy=$build/tools/airy/airy
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
trap 'exit 1' INT TERM
AIRY_DEVICE=cpu
AIRY_CACHE_DIR=none
export AIRY_DEVICE AIRY_CACHE_DIR
python=${PYTHON:-python3}
number=0
failed=0

one() { # NAME COMMAND...: 77: skipped, its last line says why
    number=$((number + 1))
    name=$1
    shift
    "$@" >"$top/log" 2>&1
    code=$?
    if [ $code = 0 ]; then
        echo "ok $number - $name"
    elif [ $code = 77 ]; then
        echo "ok $number - $name # SKIP $(tail -n 1 "$top/log")"
    else
        failed=$((failed + 1))
        echo "not ok $number - $name"
        echo "# exit code $code"
        tail -n 20 "$top/log" | sed 's/^/# /'
    fi
}

skip() { # WHY
    echo "$1"
    exit 77
}

parse() {
    for script in "$source"/scripts/* "$source"/bench/*.py; do
        case $(head -n 1 "$script") in
        *bash) bash -n "$script" ;;
        *sh) sh -n "$script" ;;
        *python3) "$python" -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' "$script" ;;
        *) echo "$script: its first line names no interpreter" && false ;;
        esac || return 1
    done
}

detector_table() {
    "$python" "$source/scripts/detector_table.py" "$source/tests/golden/diffraction/detectors.json" >"$top/table.c" &&
        tr -s ' ' <"$top/table.c" >"$top/made" && tr -s ' ' <"$source/src/integrate/detector_table.c" | diff "$top/made" -
}

layers_self_test() {
    "$python" "$source/scripts/layers.py" --self-test "$build"
}

words_self_test() {
    "$python" "$source/scripts/words.py" --self-test
}

# The command of the demo, with fewer frames.
demo() (
    mkdir -p "$top/bin/tools/airy" && cd "$top" || exit 1
    cat >bin/tools/airy/airy <<END
#!/bin/sh
[ "\$1" = bench ] && set -- "\$@" --seconds 0.05
[ "\$1" = simulate ] && set -- "\$@" --frames 2
[ "\$1" = integrate ] && set -- "\$@" --bins 50
exec "$airy" "\$@"
END
    chmod +x bin/tools/airy/airy
    command -v gnuplot >/dev/null || skip "gnuplot is not installed"
    sh "$source/scripts/demo.sh" bin && [ -s demo/patterns.h5 ] && [ -s demo/patterns.png ]
)

soak() (
    "$airy" stream --help >/dev/null 2>&1 || skip "this build has no streams"
    SOAK_RATE=50 SOAK_LINES=2000 sh "$source/scripts/soak.sh" "$airy" 4 "$top/soak"
)

dist() (
    command -v git >/dev/null && [ "$(git -C "$source" rev-parse --show-toplevel 2>/dev/null)" = "$(cd "$source" && pwd -P)" ] ||
        skip "the source is no repository of its own"
    sh "$source/scripts/dist.sh" "$top/dist" && [ -s "$top"/dist/airy-*.tar.xz ]
)

compare() (
    "$python" -c 'import h5py, hdf5plugin, numpy' 2>/dev/null || skip "python has no h5py, hdf5plugin and numpy"
    cd "$top" || exit 1
    "$airy" simulate diffraction c.h5 --detector pilatus_100k --frames 2 --write-poni c.poni --quiet &&
        "$python" "$source/bench/compare.py" --airy "$airy" --cores 1 --seconds 0.02 --repeat 1 --peer-frames 2 --bins 50 \
            --only hdf5plugin c.h5 c.poni
)

# The bundle where neither the source nor the build can be read: a file system of nothing lies over both.
bundle() (
    command -v patchelf >/dev/null || skip "patchelf is not installed"
    case $(ldd "$airy") in *lib[atu]*san.so*) skip "sanitizers' libraries are not bundled" ;; esac
    sh "$source/scripts/bundle.sh" --keep "$build" "$top/bundle" || exit 1
    cd "$top" || exit 1
    apart="unshare -m"
    $apart true 2>/dev/null || apart="unshare -rm"
    $apart mount -t tmpfs none "$top/bundle" 2>/dev/null || skip "no mount namespace can be made here"
    case $top/ in "$source"/* | "$build"/*) skip "TMPDIR lies within what is to be hidden" ;; esac
    # Names of cases of airy-check, then of airy-golden.
    $apart sh -c '
        top=$1 source=$2 build=$3
        mount -t tmpfs none "$source" && { [ ! -d "$build" ] || mount -t tmpfs none "$build"; } &&
            [ ! -e "$source/meson.build" ] && [ ! -e "$build/build.ninja" ] &&
            env -u AIRY_GOLDEN -u LD_LIBRARY_PATH "$top/bundle/test.sh" --device cpu "fits_*" "*/positions" "rect/1d.no.csr*"
    ' sh "$top" "$source" "$build" >bundle.log 2>&1
    code=$?
    grep -e '^not ok' -e ' passed, ' bundle.log || tail -n 5 bundle.log
    [ $code = 0 ] && ! grep -q -e "is not there" -e "^# 0 passed" bundle.log
)

# --update writes a wording that changed, keeps a line that still matches, leaves out what varies from run to run, and writes an exit
# code only when it is asked to. A failed case keeps its folder.
cli_update() (
    mkdir -p "$top/cli/cases/topic" "$top/golden" && cd "$top/cli" && cp "$source/tests/cli/run.sh" "$source/tests/cli/update.py" . || exit 1
    # shellcheck disable=SC2016
    echo 'echo "airy: $PWD/a.h5 has 8 frames [0:8], process $$ of many" >&2; echo "airy: kept" >&2; echo new' >cases/topic/words.sh
    printf '%s\n' 'airy: *.h5 holds 8 frames \[0:8], process * of many' 'airy: k*t' >cases/topic/words.stderr.glob
    echo old >cases/topic/words.stdout.exact
    echo 'exit 3' >cases/topic/code.sh
    # shellcheck disable=SC2016
    echo 'echo $$' >cases/topic/varies.sh && echo 1 >cases/topic/varies.stdout.exact
    update() {
        TMPDIR=$top sh run.sh "$@" "$airy" "$airy" >log
    }
    update && exit 1
    [ -d "$(sed -n 's/^# its folder: \(.*words\), what.*/\1/p' log)" ] && grep -q '^# run it again: .* topic/words$' log || exit 2
    update --update && exit 3
    [ "$(cat cases/topic/words.stdout.exact)" = new ] && [ ! -e cases/topic/code.exit ] && [ "$(cat cases/topic/varies.stdout.exact)" = 1 ] || exit 4
    printf '%s\n' 'airy: *.h5 has 8 frames \[0:8], process * of many' 'airy: k*t' | diff - cases/topic/words.stderr.glob || exit 5
    update --update --exit && exit 6
    [ "$(cat cases/topic/code.exit)" = 3 ] && [ "$(grep -c '^not ok' log)" = 1 ] || exit 7
    # The second of three calls runs under gdb; the program in gdb's place has the input and output of run.sh.
    # shellcheck disable=SC2016
    printf '%s\n' 'for i in 1 2 3; do "$airy" --version >"$i"; done' >cases/topic/calls.sh
    printf '%s\n' '#!/bin/sh' 'cat; while [ "$1" != --args ]; do shift; done; shift; echo "under: $*"' >gdb && chmod +x gdb
    echo input | GDB=$PWD/gdb TMPDIR=$top sh run.sh --debug=2 "$airy" "$airy" calls 2>said >log
    [ "$(cat said)" = "$(printf '# call %s: airy --version\n' 1 2 && printf 'input\nunder: %s --version\n' "$airy" && echo '# call 3: airy --version')" ]
)

# Each assertion of a case is a result of its own; one that fails, that is not expected, that the case did not come to, or that it has
# twice is reported by its name, and --update writes it.
cli_assertions() (
    mkdir -p "$top/named/cases/topic" "$top/golden" && cd "$top/named" && cp "$source"/tests/cli/*.sh "$source/tests/cli/update.py" . || exit 1
    cat >cases/topic/several.sh <<'END'
. "$cli/check.sh"
expect 'one is printed' echo one
expect 'two is not listed' ls two
expect 'nothing fails' grep -q three three
END
    printf '%s\n' '== one is printed' one '== two is not listed' 'exit code 2' '== nothing fails' 'exit code 2' >cases/topic/several.stdout.exact
    printf '%s\n' '== two is not listed' '*two*' '== nothing fails' '*three*' >cases/topic/several.stderr.glob
    results() {
        TMPDIR=$top sh run.sh "$@" "$airy" "$airy" several >log
        grep -e '^ok' -e '^not ok' -e '^1\.' -e '^# [0-9]' log | sed 's,topic/several,T,'
    }
    [ "$(results)" = "ok 1 - T: one is printed
ok 2 - T: two is not listed
ok 3 - T: nothing fails
ok 4 - T
1..4
# 0 of 4 assertions failed" ] || exit 1
    sed -i 's/echo one/echo other/; s/ls two/ls none/; s/nothing/something/' cases/topic/several.sh
    [ "$(results)" = "not ok 1 - T: one is printed
not ok 2 - T: two is not listed
not ok 3 - T: nothing fails
not ok 4 - T: something fails
ok 5 - T
1..5
# 4 of 5 assertions failed in 1 of 1 cases" ] || exit 2
    grep -q '^# diff: > other' log && grep -q '^# the case ended before it' log && grep -q '^# it is not in several' log || exit 3
    results --update >said && grep -q '^# 0 of 4' said && [ "$(sed -n '2p;$p' cases/topic/several.stdout.exact | tr '\n' ,)" = 'other,exit code 2,' ] &&
        [ "$(grep '^== ' cases/topic/several.stderr.glob | tr '\n' ,)" = '== two is not listed,== something fails,' ] || exit 4
    # the same word twice, another order, an exit code
    sed -i 's/something fails/one is printed/' cases/topic/several.sh
    results >said && grep -q '^not ok . - T$' said && grep -q '^# .*this sentence stands twice: one is printed' log || exit 5
    # shellcheck disable=SC2016
    printf '%s\n' '. "$cli/check.sh"' "expect 'a' true" "expect 'b' true" >cases/topic/several.sh
    printf '%s\n' '== b' '== a' >cases/topic/several.stdout.exact && rm cases/topic/several.stderr.glob
    results >said && grep -q '^not ok 3 - T$' said && grep -q '^# standard output differs' log || exit 6
    printf '%s\n' '== a' '== b' >cases/topic/several.stdout.exact && echo 'exit 3' >>cases/topic/several.sh
    results >said && grep -q '^not ok 2 - T: b$' said && grep -q '^ok 3 - T$' said && grep -q '^# exit code 3, expected 0' log || exit 7
    echo "expect 'a * b'" >>cases/topic/several.sh && sed -i '/^exit/d' cases/topic/several.sh
    results >said && grep -q '^# exit code 99, expected 0' log
)

# Each case is in one slice, and one that fails names the command that runs it again, as it ran.
check_slices() (
    check=$build/tests/airy-check
    for slice in 0 1 2; do
        CHECK_SLICE=1$slice "$check" --every 3 --list formats table >>"$top/slices" || exit 1
    done
    "$check" --list formats table >"$top/all" || exit 2
    [ "$(grep '/' "$top/slices" | sort)" = "$(grep '/' "$top/all" | sort)" ] || exit 3
    CHECK_SLICE=all "$check" --cpu-every 3 --list formats table | diff "$top/all" - || exit 4
    CHECK_SLICE=1 "$check" --every 3 --list runner | grep -q memory_given_back || exit 8
    CHECK_SLICE=none "$check" --list table 2>/dev/null && exit 5
    (ulimit -n 5 && AIRY_CPU=portable "$check" --threads 2 --seed 5 error_run) >"$top/log" 2>&1 && exit 6
    again=$(sed -n 's/.*; run it again: //p' "$top/log")
    case $again in AIRY_CPU=\'portable\'*" --device cpu --seed 5 --threads 2 'error_run'") ;; *) cat "$top/log" && exit 7 ;; esac
    sh -c "$again"
)

cli_slices() (
    mkdir -p "$top/sliced/cases/topic" "$top/golden" && cd "$top/sliced" && cp "$source/tests/cli/run.sh" . || exit 1
    for name in a b c d e; do echo true >cases/topic/$name.sh; done
    names() { # SLICE OPTION...
        slice=$1
        shift
        CHECK_SLICE=$slice TMPDIR=$top sh run.sh "$@" "$airy" "$airy" | sed -n 's,^ok .*topic/,,p' | tr -d '\n'
    }
    [ "$(names 0 --every 2) $(names 7 --every 2) $(names all --every 2)" = "ace bd abcde" ] &&
        [ "$(names 0 --part 1/2 --every 2) $(names 1 --part 1/2 --every 2) $(names 0 --part 2/2)" = "ae c bd" ]
)

one parse parse
one cli_slices cli_slices
one check_slices check_slices
one cli_assertions cli_assertions
one cli_update cli_update
one detector_table detector_table
one layers_self_test layers_self_test
one words_self_test words_self_test
one dist dist
one demo demo
one soak soak
one compare compare
one bundle bundle
echo "1..$number"
[ $failed = 0 ]

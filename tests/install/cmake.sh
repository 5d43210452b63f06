#!/bin/sh
# usage: cmake.sh BUILD SOURCE CC
# find_package(airy) finds the installed tree; an example runs with the shared and with the static library; another series is refused.
set -eu
build=$1 source=$2 cc=$3
command -v cmake >/dev/null 2>&1 || { echo "no cmake"; exit 77; }
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
. "$source/tests/install/common.sh"
# Words behind the compiler's name are flags; one in front of it is a launcher.
set -- $cc
case $1 in
ccache | */ccache | sccache | distcc) shift ;;
esac
compiler=$1
shift
find_airy() { # VERSION FOLDER [FLAGS]
    sed "s/airy 0.1 /airy $1 /" "$source/tests/install/cmake/CMakeLists.txt" >"$there/CMakeLists.txt"
    cmake -S "$there" -B "$there/$2" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="$3" -DCMAKE_PREFIX_PATH="$prefix" \
        -DEXAMPLE="$source/examples/arrays.c" >"$there/log" 2>&1
}
find_airy 0.1 found "$*" || { cat "$there/log"; exit 1; }
cmake --build "$there/found" >"$there/log" 2>&1 || { cat "$there/log"; exit 1; }
for kind in airy static; do
    "$there/found/with_$kind" cpu >/dev/null
    echo "with_$kind"
done
for other in 0.2 1.0 0.0; do
    if find_airy $other "other-$other" "$*"; then
        echo "airy $other was found"
        exit 1
    fi
done

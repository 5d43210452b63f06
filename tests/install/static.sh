#!/bin/sh
# usage: static.sh BUILD SOURCE CC
# An example with the static library by pkg-config --static: it runs, and needs no libairy.so.
set -eu
build=$1 source=$2 cc=$3
command -v readelf >/dev/null 2>&1 || { echo "no readelf"; exit 77; }
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
. "$source/tests/install/common.sh"
# alone, where the development files of nothing else are: flags for the shared library are found
PKG_CONFIG_LIBDIR=$there/pc pkg-config --exists airy && PKG_CONFIG_LIBDIR=$there/pc pkg-config --cflags --libs airy >/dev/null ||
    { echo "airy.pc does not work alone"; exit 1; }
rm "$(dirname "$library")"/libairy.so*
# shellcheck disable=SC2046 # words of pkg-config are separate arguments
$cc -std=c11 "$source/examples/arrays.c" -o "$there/arrays" $(pkg-config --static --cflags --libs airy)
"$there/arrays" cpu >/dev/null
if readelf -d "$there/arrays" | grep libairy; then
    echo "linked to the shared library"
    exit 1
fi

#!/bin/sh
# usage: installed.sh BUILD SOURCE CC
# Installs into a scratch folder, builds every example against what lies there by pkg-config alone, runs one, and compares the
# library's symbols with the functions that the headers declare. Exit 77: something that this needs is not here.
set -eu
build=$1 source=$2 cc=$3
command -v nm >/dev/null 2>&1 || { echo "no nm"; exit 77; }
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
. "$source/tests/install/common.sh"

for file in "$source"/examples/*.c; do
    # shellcheck disable=SC2046 # words of pkg-config are separate arguments
    $cc -std=c11 "$file" -o "$there/$(basename "$file" .c)" $(pkg-config --cflags --libs airy)
    echo "built $(basename "$file")"
done
LD_LIBRARY_PATH=$(dirname "$library") "$there/arrays" cpu >/dev/null

cat "$prefix"/include/airy/*.h | tr '\n' ' ' | grep -o 'AIRY_API [^;(]*(' | grep -o 'airy_[a-z0-9_]*($' | tr -d '(' | sort -u >"$there/declared"
nm -D --defined-only "$library" | awk '{print $3}' | sort -u >"$there/exported"
if ! diff "$there/declared" "$there/exported"; then
    echo "declared (<) and exported (>) functions differ"
    exit 1
fi
echo "$(wc -l <"$there/exported") functions"

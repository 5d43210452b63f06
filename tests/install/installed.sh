#!/bin/sh
# usage: installed.sh BUILD SOURCE CC
# Installs into a scratch folder, builds every example against what lies there by pkg-config alone, runs one, and compares the
# library's symbols with the functions that the headers declare and with those that it has had (debian/libairy0.1.symbols). The pages
# and the pictures that they show are installed.
# Exit 77: something that this needs is not here.
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

(cd "$source" && ls README.md NEWS.md docs/*.md docs/pictures/* docs/gallery/*) | while read -r file; do
    cmp -s "$source/$file" "$prefix/share/doc/airy/$file" || { echo "$file is not installed"; exit 1; }
done

cat "$prefix"/include/airy/*.h | tr '\n' ' ' | grep -o 'AIRY_API [^;(]*(' | grep -o 'airy_[a-z0-9_]*($' | tr -d '(' | sort -u >"$there/declared"
nm -D --defined-only "$library" | awk '{print $3}' | sort -u >"$there/exported"
if ! diff "$there/declared" "$there/exported"; then
    echo "declared (<) and exported (>) functions differ"
    exit 1
fi
sed -n 's/^ \(.*\)@Base .*/\1/p' "$source/debian/libairy0.1.symbols" | sort -u >"$there/kept"
gone=$(comm -23 "$there/kept" "$there/exported")
if [ -n "$gone" ]; then
    echo "no longer exported, which needs another soname from 1.0 on: $gone"
    exit 1
fi
archive=$(find "$there" -name 'libairy.a' | head -n 1)
alien=$(nm -g --defined-only "$archive" 2>/dev/null | awk 'NF == 3 && $3 !~ /^airy_/ { print $3 }' | sort -u)
if [ -n "$alien" ]; then
    echo "names of the static library that do not begin with airy_: $alien"
    exit 1
fi
echo "$(wc -l <"$there/exported") functions, $(comm -13 "$there/kept" "$there/exported" | wc -l) of them new since the list"

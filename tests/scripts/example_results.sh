#!/bin/sh
# usage: example_results.sh AIRY EXAMPLE
# examples/results.c over a complete result, and over one that a damaged frame left unfinished.
set -e
airy=$1
example=$2
case $airy in /*) ;; *) airy=$PWD/$airy ;; esac
case $example in /*) ;; *) example=$PWD/$example ;; esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
AIRY_DEVICE=cpu
AIRY_CACHE_DIR=none
export AIRY_DEVICE AIRY_CACHE_DIR
"$airy" simulate diffraction stack.h5 --detector Pilatus100k --frames 32 --quiet
"$airy" integrate stack.h5 -o all.h5 --bins 50 --quiet
"$example" all.h5 >all.txt
grep -q '^all.h5: 32 rows, 32 good, 0 bad$' all.txt
test "$(grep -c '^row [0-9]*, frame [0-9]*, good: intensity [0-9]' all.txt)" = 11
grep -q '^row 10, frame 10, ' all.txt
grep -q '^row 20, frame 20, ' all.txt
size=$(wc -c <stack.h5)
dd if=/dev/zero of=stack.h5 bs=1 seek=$((size / 2)) count=4096 conv=notrunc 2>/dev/null
if "$airy" integrate stack.h5 -o part.h5 --bins 50 --quiet 2>/dev/null; then
    echo "the damaged frame was not noticed"
    exit 1
fi
"$example" part.h5 >part.txt
grep -q '^part.h5.partial: 32 rows, .* not complete$' part.txt
grep -q '^row 10, frame 10, good: intensity [0-9]' part.txt
grep -q '^row [12][0-9], .* pending: intensity nan at ' part.txt # the damaged frame's
# What is done is what the complete result has.
grep ' good: ' part.txt | while IFS= read -r line; do
    grep -qxF "$line" all.txt
done

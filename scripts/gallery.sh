#!/bin/sh
# Run the commands of docs/gallery.md; every picture that the page shows must come of them.
#   scripts/gallery.sh BUILD FOLDER [--keep]     --keep: put the pictures into the page
# Exits with 77 where gnuplot is not installed.
set -eu
command -v gnuplot >/dev/null 2>&1 || { echo "gnuplot is not installed (Debian: apt-get install gnuplot-nox)" >&2; exit 77; }
docs=$(cd "$(dirname "$0")/../docs" && pwd)
PATH=$(cd "$1" && pwd)/tools/airy:$PATH
export PATH
rm -rf "$2"
mkdir -p "$2"
cd "$2"
sed -n 's/^    \(airy .*\)/\1/p' "$docs/gallery.md" > commands
while read -r command; do
    echo "$command"
    sh -c "$command --quiet" </dev/null >/dev/null
done < commands
sed -n 's/.*(gallery\/\(.*\.png\))/\1/p' "$docs/gallery.md" | while read -r picture; do
    [ -s "$picture" ] || { echo "docs/gallery.md shows $picture, but no command of it draws that" >&2; exit 1; }
    [ "${3:-}" != --keep ] || cp "$picture" "$docs/gallery/$picture"
done
echo "$(pwd)"

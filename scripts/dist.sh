#!/bin/sh
# Write OUT/airy-VERSION.tar.xz, the tree of the last commit: the same bytes from the same commit, wherever and whenever it is made.
#   scripts/dist.sh OUT
set -eu
cd "$(dirname "$0")/.."
out=$1
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" != "$(pwd -P)" ]; then
    echo "scripts/dist.sh: $(pwd) is no repository of its own; the source is made from a commit" >&2
    exit 1
fi
[ -z "$(git status --porcelain)" ] || echo "scripts/dist.sh: what is not committed is not in it" >&2
mkdir -p "$out"
file=$out/airy-$version.tar.xz
trap 'rm -f "$file.partial" "$file.tar"' EXIT
# Owner and time are the commit's for all files; the mode must not depend on the user's umask, nor the blocks on the cores.
git -c tar.umask=0022 archive --format=tar --prefix="airy-$version/" -o "$file.tar" HEAD
xz -6 -T1 -c "$file.tar" >"$file.partial"
mv "$file.partial" "$file"
(cd "$out" && sha256sum "$(basename "$file")")

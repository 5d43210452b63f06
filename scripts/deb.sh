#!/bin/sh
# Debian packages of this tree in OUT: libairy0.1, libairy-dev, airy, airy-mpi. Built in a copy, without the network; lintian looks at them.
#   scripts/deb.sh OUT
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
package=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
if [ "$package" != "$version" ]; then
    echo "scripts/deb.sh: debian/changelog is for $package, meson.build for $version" >&2
    exit 1
fi
copy=$out/airy-$version
rm -rf "$copy" "$out"/*.deb "$out"/*.changes "$out"/*.buildinfo
mkdir "$copy"
# What is tracked, as it is now; all where there is no repository.
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; then
    git ls-files -z | tar -c --null --ignore-failed-read -T - | tar -x -C "$copy"
else
    tar -c --exclude="./$(basename "$out")" --exclude='./build*' . | tar -x -C "$copy"
fi
(cd "$copy" && DEB_BUILD_OPTIONS="parallel=${JOBS:-$(nproc)} ${DEB_BUILD_OPTIONS:-}" dpkg-buildpackage -b -us -uc >"$out/deb.log" 2>&1) || {
    tail -n 40 "$out/deb.log" >&2
    exit 1
}
rm -rf "$copy"
ls "$out"/*.deb
lintian --allow-root --fail-on error,warning "$out"/*.changes

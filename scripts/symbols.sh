#!/bin/sh
# The functions that a library exports, as debian/libairy0.1.symbols keeps them:
#   scripts/symbols.sh BUILD > debian/libairy0.1.symbols     at a release, or where a function was added or, before 1.0, taken away
set -eu
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$(dirname "$0")/../meson.build")
library=$(find "$1/src" -maxdepth 1 -type f -name 'libairy.so.*' | head -n 1)
soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
echo "$soname libairy${soname##*.so.} #MINVER#"
echo "* Build-Depends-Package: libairy-dev"
nm -D --defined-only "$library" | awk -v version="$version" '{ print " " $3 "@Base " version }' | LC_ALL=C sort -u

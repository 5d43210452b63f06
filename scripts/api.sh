#!/bin/sh
# The API reference from the headers and the pages, in FOLDER/html; any warning of doxygen is a failure.
#   scripts/api.sh FOLDER
# Exits with 77 where doxygen is not installed.
set -eu
command -v doxygen >/dev/null 2>&1 || { echo "doxygen is not installed (Debian: apt-get install doxygen)" >&2; exit 77; }
mkdir -p "$1"
AIRY_API=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
AIRY_VERSION=$(sed -n "s/^ *version: '\([0-9.]*\)',$/\1/p" meson.build | head -n 1)
export AIRY_API AIRY_VERSION
exec doxygen docs/Doxyfile

#!/bin/sh
# Install the packages that the given goals need, those that are missing only, and say which and why.
#   scripts/deps.sh [--check] GOAL...     goals: build demo test bundle deb dist ci coverage oclgrind; --check: only say, and fail if something is missing
set -eu

check=no
if [ "${1:-}" = --check ]; then
    check=yes
    shift
fi
missing=""
need() { # PACKAGE WHY
    dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed' || missing="$missing$1 ($2)
"
}
drop() {
    missing=$(printf '%s' "$missing" | grep -v "^$1 " || true)
    missing="$missing
"
}

# Not Debian or Ubuntu: the build itself names what it does not find.
command -v dpkg-query >/dev/null 2>&1 || exit 0

for goal in "$@"; do
    case $goal in
    build)
        need gcc "compiler"
        need libc6-dev "C library headers"
        need meson "build system"
        need ninja-build "build system"
        need pkg-config "finds the libraries"
        need libhdf5-dev "HDF5 files"
        need libjansson-dev "JSON"
        need liblz4-dev "compressing"
        need libpng-dev "PNG pictures"
        need zlib1g-dev "gzip files"
        need libcfitsio-dev "FITS images"
        need wcslib-dev "sky coordinates"
        need libtiff-dev "TIFF images"
        need libzstd-dev "bitshuffle-Zstandard files"
        need libzmq3-dev "live streams"
        need libcbor-dev "live streams"
        need opencl-c-headers "OpenCL declarations; the library itself is looked for at run time"
        ;;
    demo)
        need gnuplot-nox "draws the plots"
        ;;
    test)
        need ocl-icd-libopencl1 "finds the OpenCL devices"
        need pocl-opencl-icd "an OpenCL device on the CPU, to test the kernels"
        need libbz2-dev "linked behind CFITSIO where everything is static"
        need g++ "the headers are checked as C++ too"
        need gnuplot-nox "draws the plots"
        need libopenmpi-dev "several machines; a module that is opened where it is wanted"
        need openmpi-bin "starts several ranks"
        ;;
    bundle)
        need patchelf "makes the programs find their libraries in the bundle"
        ;;
    deb)
        need debhelper "builds Debian packages"
        need libopenmpi-dev "the package airy-mpi"
        need dpkg-dev "builds Debian packages"
        need build-essential "what packages are built with"
        need lintian "checks Debian packages"
        ;;
    dist)
        need git "what is in the last commit"
        need xz-utils "packs the source"
        ;;
    ci)
        need clang "second compiler, kernel syntax check, fuzzers"
        need clang-format "layout check"
        need clang-tidy "static checks"
        need cppcheck "static checks"
        need libclang-rt-14-dev "sanitizers of clang"
        need python3-dev "the package for Python"
        need python3-numpy "tests of the package for Python"
        ;;
    coverage)
        need gcovr "tables of lines that were reached"
        ;;
    oclgrind)
        need oclgrind "runs kernels in a simulator that looks at each access"
        ;;
    *)
        echo "scripts/deps.sh: unknown goal '$goal'; expected build, demo, test, bundle, deb, dist, ci, coverage or oclgrind" >&2
        exit 2
        ;;
    esac
done
[ -n "$missing" ] || exit 0

# pkgconf stands in for pkg-config on newer systems; another clang than 14 brings its runtime under another name.
! command -v pkg-config >/dev/null 2>&1 || drop pkg-config
! { command -v clang && ! command -v clang-14; } >/dev/null 2>&1 || drop libclang-rt-14-dev
packages=$(printf '%s' "$missing" | sed -n 's/ .*//p' | tr '\n' ' ')
[ -n "$(printf '%s' "$packages" | tr -d ' ')" ] || exit 0

if [ $check = yes ]; then
    echo "These packages are missing; 'make deps' installs them:" >&2
    printf '%s' "$missing" | sed -n 's/./  &/p' >&2
    exit 1
fi
echo "These packages are missing and will be installed:" >&2
printf '%s' "$missing" | sed -n 's/./  &/p' >&2
sudo=""
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || { echo "run this as root: apt-get install $packages" >&2; exit 1; }
    sudo=sudo
fi
$sudo apt-get update -qq
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null

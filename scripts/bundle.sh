#!/bin/sh
# Collect the command, the test programs and every shared library they need (not glibc, not OpenCL) in one folder that runs on
# another Linux of the same or newer glibc with nothing installed.
#   scripts/bundle.sh [--keep] BUILD OUT     --keep: not to be handed on, so that libraries under the GPL and any size will do
set -eu
keep=
if [ "$1" = --keep ]; then
    keep=yes
    shift
fi
build=$(cd "$1" && pwd)
out=$2
source=$(cd "$(dirname "$0")/.." && pwd)

rm -rf "$out"
mkdir -p "$out/bin" "$out/lib" "$out/share"
for program in tools/airy/airy tools/airy/airy-bench tests/airy-check tests/golden/airy-golden; do
    cp "$build/$program" "$out/bin/"
done

# What glibc brings is the target's own.
is_glibc() {
    case $1 in
    linux-vdso.so*|ld-linux*|libc.so.*|libm.so.*|libdl.so.*|libpthread.so.*|librt.so.*|libresolv.so.*|libutil.so.*|libanl.so.*) return 0 ;;
    esac
    return 1
}
LD_LIBRARY_PATH="$build/src" ldd "$out"/bin/* | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | sort -u |
    while read -r name path; do
        is_glibc "$name" || cp -L "$path" "$out/lib/$name"
    done

if [ -z "$keep" ] && ls "$out"/lib/libjbig* >/dev/null 2>&1; then
    echo "scripts/bundle.sh: $build is linked to libjbig (GPL) through libtiff; build it with -Dtiff=disabled" >&2
    exit 1
fi
chmod u+w "$out"/lib/* "$out"/bin/*
strip --strip-unneeded "$out"/lib/* "$out"/bin/*
for file in "$out"/bin/*; do patchelf --set-rpath '$ORIGIN/../lib' "$file"; done
for file in "$out"/lib/*; do patchelf --set-rpath '$ORIGIN' "$file"; done
cp -r "$source/tests/golden" "$out/share/golden"
cp "$source/LICENSE" "$out/"
cat > "$out/test.sh" <<'END'
#!/bin/sh
# Run the tests of this bundle: test.sh [options of airy-check, such as --device gpu]
here=$(cd "$(dirname "$0")" && pwd)
export AIRY_GOLDEN="$here/share/golden"
"$here/bin/airy-check" "$@"
first=$?
"$here/bin/airy-golden" "$@"
second=$?
[ $first = 0 ] && [ $second = 0 ]
END
chmod +x "$out/test.sh"

size=$(du -sm "$out" | cut -f1)
echo "$out: $size MiB, $(ls "$out/lib" | wc -l) libraries"
if [ -z "$keep" ] && [ "$size" -ge 64 ]; then
    echo "scripts/bundle.sh: $out has $size MiB, expected less than 64" >&2
    exit 1
fi

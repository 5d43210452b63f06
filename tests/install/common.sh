# Sourced with $build and $there: install into $there, and let pkg-config find what lies there as if it were its place.
# Exit 77 where meson or pkg-config is missing.
for need in pkg-config meson; do
    command -v "$need" >/dev/null 2>&1 || { echo "no $need"; exit 77; }
done
DESTDIR=$there meson install -C "$build" --no-rebuild --quiet >/dev/null
pc=$(find "$there" -name airy.pc)
prefix=$there$(sed -n 's/^prefix=//p' "$pc")
mkdir "$there/pc"
sed "s|^prefix=.*|prefix=$prefix|" "$pc" >"$there/pc/airy.pc"
export PKG_CONFIG_PATH="$there/pc"
library=$(find "$there" -name 'libairy.so' | head -n 1)

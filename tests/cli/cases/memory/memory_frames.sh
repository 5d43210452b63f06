# Memory is bounded by slots: ten times the frames, and a virtual stack of a million, hold as much.
grep -q -e __asan_init -e __tsan_init "$airy" && { echo 'a sanitizer keeps what was freed' >&2; exit 77; }
for frames in 64 640; do
    $airy simulate diffraction s$frames.h5 --frames $frames --detector pilatus_100k --same-frame --quiet || exit 1
    $helper peak "$airy" integrate s$frames.h5 --threads 2 -o r$frames.h5 --quiet >peak$frames || exit 2
done
# Each of 576 frames more: 16 bytes of address, 8 of its row, and pages of the file's metadata.
[ $(($(cut -d' ' -f1 peak640) - $(cut -d' ' -f1 peak64))) -lt 4000000 ] || { cat peak64 peak640 >&2; exit 3; }

$airy simulate diffraction zero.h5 --frames 10000 --detector pilatus_100k --same-frame --scale 1e-12 --quiet || exit 4
$airy simulate diffraction one.h5 --frames 64 --detector pilatus_100k --same-frame --scale 1e-12 --write-poni s.poni --quiet || exit 4
$helper virtual few.h5 "$PWD/one.h5" /entry/data/data 1 && $helper virtual many.h5 "$PWD/zero.h5" /entry/data/data 100 || exit 5
$airy info many.h5 | grep -q 1000000 || exit 6
for name in few many; do
    $helper peak "$airy" integrate $name.h5 --poni s.poni --threads 2 --frames 0:64 -o $name.out.h5 --quiet >$name || exit 7
done
$airy diff few.out.h5 many.out.h5 >/dev/null || exit 8
read -r few_bytes few_ms <few
read -r many_bytes many_ms <many
# While the mapping is resolved 16 bytes a frame. Time is that of processors: others may take as much of them as they like.
[ $((many_bytes - few_bytes)) -lt 24000000 ] && [ $((many_ms - few_ms)) -lt 1000 ] || { cat few many >&2; exit 9; }

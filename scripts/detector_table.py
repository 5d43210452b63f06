#!/usr/bin/env python3
"""Print src/integrate/detector_table.c from tests/golden/diffraction/detectors.json.

Run by hand when the registry changes; the build does not need it:
    scripts/detector_table.py tests/golden/diffraction/detectors.json > src/integrate/detector_table.c
"""
import json
import sys

# Shapes that belong to the default pixel size where the registry lists the unbinned shape.
BINNED = {
    "Perkin", "Pixium", "Rayonix133", "RayonixMx225", "RayonixMx225hs", "RayonixMx300", "RayonixMx300hs", "RayonixMx325",
    "RayonixMx340hs",
}
# Image plates that are scanned at pixel sizes of the user's choice.
PLATES = {"Mar345"}
# Round sensors: pixels whose centre lies farther from the middle than half the height are bad.
ROUND = {"Mar345", "Rayonix133", "RayonixSx165"}
# Good pixels of the detector whose chips follow no grid: [y0, y1, x0, x1).
JUNGFRAU8M = [
    (1, 257, 607, 863), (1, 257, 866, 1122), (1, 257, 1124, 1380), (1, 257, 1382, 1638),
    (69, 325, 1646, 1902), (69, 325, 1905, 2161), (69, 325, 2163, 2419), (69, 325, 2421, 2677),
    (259, 515, 607, 863), (259, 515, 866, 1122), (259, 515, 1124, 1380), (259, 515, 1382, 1638),
    (328, 584, 1646, 1902), (328, 584, 1905, 2161), (328, 584, 2163, 2419), (328, 584, 2421, 2677),
    (550, 806, 607, 863), (550, 806, 866, 1122), (550, 806, 1124, 1380), (550, 806, 1382, 1638),
    (597, 853, 69, 325), (597, 853, 328, 584), (619, 875, 1646, 1902), (619, 875, 1905, 2161),
    (619, 875, 2163, 2419), (619, 875, 2421, 2677), (667, 923, 2698, 2954), (667, 923, 2957, 3212),
    (809, 1065, 607, 863), (809, 1065, 866, 1122), (809, 1065, 1124, 1380), (809, 1065, 1382, 1638),
    (856, 1112, 69, 325), (856, 1112, 328, 584), (878, 1134, 1646, 1902), (878, 1134, 1905, 2161),
    (878, 1134, 2163, 2419), (878, 1134, 2421, 2677), (926, 1182, 2698, 2954), (926, 1182, 2957, 3212),
    (1100, 1356, 607, 863), (1100, 1356, 866, 1122), (1100, 1356, 1124, 1380), (1100, 1356, 1382, 1638),
    (1114, 1370, 69, 325), (1114, 1370, 328, 584), (1169, 1425, 1646, 1902), (1169, 1425, 1905, 2161),
    (1169, 1425, 2163, 2419), (1169, 1425, 2421, 2677), (1185, 1441, 2698, 2954), (1185, 1441, 2957, 3212),
    (1359, 1615, 607, 863), (1359, 1615, 866, 1122), (1359, 1615, 1124, 1380), (1359, 1615, 1382, 1638),
    (1372, 1628, 69, 325), (1372, 1628, 328, 584), (1428, 1684, 1646, 1902), (1428, 1684, 1905, 2161),
    (1428, 1684, 2163, 2419), (1428, 1684, 2421, 2677), (1442, 1698, 2698, 2954), (1442, 1698, 2957, 3212),
    (1636, 1892, 1, 257), (1636, 1892, 259, 515), (1650, 1906, 538, 794), (1650, 1906, 797, 1053),
    (1650, 1906, 1055, 1311), (1650, 1906, 1313, 1569), (1706, 1962, 2629, 2885), (1706, 1962, 2888, 3144),
    (1719, 1975, 1577, 1833), (1719, 1975, 1836, 2092), (1719, 1975, 2094, 2350), (1719, 1975, 2352, 2608),
    (1895, 2151, 1, 257), (1895, 2151, 259, 515), (1909, 2165, 538, 794), (1909, 2165, 797, 1053),
    (1909, 2165, 1055, 1311), (1909, 2165, 1313, 1569), (1965, 2221, 2629, 2885), (1965, 2221, 2888, 3144),
    (1978, 2234, 1577, 1833), (1978, 2234, 1836, 2092), (1978, 2234, 2094, 2350), (1978, 2234, 2352, 2608),
    (2153, 2409, 1, 257), (2153, 2409, 259, 515), (2200, 2456, 538, 794), (2200, 2456, 797, 1053),
    (2200, 2456, 1055, 1311), (2200, 2456, 1313, 1569), (2223, 2479, 2629, 2885), (2223, 2479, 2888, 3144),
    (2269, 2525, 1577, 1833), (2269, 2525, 1836, 2092), (2269, 2525, 2094, 2350), (2269, 2525, 2352, 2608),
    (2411, 2667, 1, 257), (2411, 2667, 259, 515), (2459, 2715, 538, 794), (2459, 2715, 797, 1053),
    (2459, 2715, 1055, 1311), (2459, 2715, 1313, 1569), (2481, 2737, 2629, 2885), (2481, 2737, 2888, 3144),
    (2528, 2784, 1577, 1833), (2528, 2784, 1836, 2092), (2528, 2784, 2094, 2350), (2528, 2784, 2352, 2608),
    (2750, 3006, 538, 794), (2750, 3006, 797, 1053), (2750, 3006, 1055, 1311), (2750, 3006, 1313, 1569),
    (2819, 3075, 1577, 1833), (2819, 3075, 1836, 2092), (2819, 3075, 2094, 2350), (2819, 3075, 2352, 2608),
    (3009, 3265, 538, 794), (3009, 3265, 797, 1053), (3009, 3265, 1055, 1311), (3009, 3265, 1313, 1569),
    (3078, 3333, 1577, 1833), (3078, 3333, 1836, 2092), (3078, 3333, 2094, 2350), (3078, 3333, 2352, 2608),
]
CHIPS = {"Jungfrau8M": JUNGFRAU8M}


def plain(name):
    return "".join(c for c in name.lower() if c not in " -_")


def names(d):
    kept, seen = [], set()
    for n in [d["cls"], d["name"]] + d["aliases"] + d["registry_names"]:
        if plain(n) not in seen:
            seen.add(plain(n))
            kept.append(n)
    # The name comes first: it is what files and messages show.
    kept.sort(key=lambda n: plain(n) != plain(d["name"]))
    kept[0] = d["name"]
    return "|".join(kept)


def runs(flags):
    out, start = [], None
    for i, f in enumerate(list(flags) + [False]):
        if f and start is None:
            start = i
        elif not f and start is not None:
            out.append((start, i - start))
            start = None
    return out


def bands(flags):
    """Runs as (first, size, step, count)."""
    out = []
    for first, size in runs(flags):
        if out and out[-1][1] == size:
            f, s, step, count = out[-1]
            if count == 1 or first == f + count * step:
                out[-1] = (f, s, first - f if count == 1 else step, count + 1)
                continue
        out.append((first, size, 0, 1))
    return out


def split_mask(d, rects):
    h, w = d["max_shape"]
    rows = [0] * h
    cols = [0] * w
    for y0, y1, x0, x1 in rects:
        for y in range(y0, y1):
            rows[y] += x1 - x0
        for x in range(x0, x1):
            cols[x] += y1 - y0
    rows = [n == w for n in rows]
    cols = [n == h for n in cols]
    covered = sum(rows) * w + sum(cols) * h - sum(rows) * sum(cols)
    assert covered == d["masked_pixels"], d["cls"]
    return bands(rows), bands(cols)


def main():
    data = json.load(open(sys.argv[1]))
    lists, entries = {}, []

    def listed(items, what):
        if not items:
            return "NULL"
        key = (what, tuple(items))
        if key not in lists:
            lists[key] = "%s_%d" % (what, sum(k[0] == what for k in lists) + 1)
        return lists[key]

    seen = {}
    for d in data["detectors"]:
        flags = []
        if not d["is_flat"]:
            flags.append("CURVED")
        elif not d["contiguous"] and "Pixirad" in d["cls"]:
            flags.append("HEXAGONAL")
        elif not d["uniform_pixel"]:
            flags.append("UNEVEN")
        if d["dummy"] == -2:
            flags.append("DECTRIS")
        if d["cls"] in ROUND:
            flags.append("ROUND")
        if d["cls"] in PLATES:
            flags.append("PLATE")
        if d["cls"] in BINNED:
            flags.append("HALVED")
        h, w = d["max_shape"] or (0, 0)
        rows, cols = split_mask(d, data["mask_rects"][d["cls"]]) if d["cls"] in data["mask_rects"] else ([], [])
        chips = CHIPS.get(d["cls"], [])
        if d["cls"] in BINNED:
            h, w = h // 2, w // 2
        for n in names(d).split("|"):
            assert plain(n) not in seen, n
            seen[plain(n)] = d["cls"]
        entries.append('    {"%s", %d, %d, %r, %r, %s, %s, %s, %s},' % (
            names(d), h, w, d["pixel1"] or 0.0, d["pixel2"] or 0.0, " | ".join(flags) or "0",
            listed(rows, "bands"), listed(cols, "bands"), listed(chips, "chips")))

    print("/* Made by scripts/detector_table.py from the reference table of detectors. */")
    print('#include "integrate/detector_table.h"\n')
    print("#define CURVED AIRY_DETECTOR_CURVED\n#define HEXAGONAL AIRY_DETECTOR_HEXAGONAL\n#define UNEVEN AIRY_DETECTOR_UNEVEN")
    print("#define DECTRIS AIRY_DETECTOR_DECTRIS\n#define ROUND AIRY_DETECTOR_ROUND")
    print("#define PLATE AIRY_DETECTOR_PLATE\n#define HALVED AIRY_DETECTOR_HALVED\n")
    print("/* clang-format off */")
    for (what, items), name in lists.items():
        if what == "bands":
            print("static const struct airy_band %s[] = {%s, {0, 0, 0, 0}};" % (name, ", ".join("{%d, %d, %d, %d}" % i for i in items)))
        else:
            print("static const struct airy_chip %s[] = {" % name)
            for k in range(0, len(items), 4):
                print("    " + " ".join("{%d, %d, %d, %d}," % i for i in items[k:k + 4]))
            print("    {0, 0, 0, 0}};")
    print("\nconst struct airy_detector_entry airy_detector_table[] = {")
    print("\n".join(entries))
    print("};\n/* clang-format on */\n")
    print("const size_t airy_detector_table_count = sizeof airy_detector_table / sizeof airy_detector_table[0];")


main()

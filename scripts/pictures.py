#!/usr/bin/env python3
"""Make pictures small enough for the repository (used by pages.py).

usage: pictures.py FROM.png TO.png LIMIT     TO.png has at most LIMIT bytes
"""
import collections
import pathlib
import shutil
import struct
import sys
import zlib


def unfilter(kind, line, before, step):
    """Undo the filter of a row of a PNG file, in place."""
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        up, corner = before[i], before[i - step] if i >= step else 0
        if kind == 4:
            p = left + up - corner
            a, b, c = abs(p - left), abs(p - up), abs(p - corner)
            add = left if a <= b and a <= c else up if b <= c else corner
        else:
            add = (0, left, up, (left + up) // 2)[kind]
        line[i] = (line[i] + add) & 255


def read(path):
    """Return the rows of a PNG of 8 bits, grey or RGB, as lists of (red, green, blue)."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, bits, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        at += 12 + size
    if bits != 8 or colour not in (0, 2) or interlaced:
        raise ValueError(f"{path}: neither grey nor RGB of 8 bits")
    step = 3 if colour == 2 else 1
    raw, rows, before = zlib.decompress(packed), [], bytearray(width * step)
    for y in range(height):
        start = y * (width * step + 1)
        line = bytearray(raw[start + 1:start + 1 + width * step])
        if raw[start]:
            unfilter(raw[start], line, before, step)
        before = line
        rows.append([tuple(line[i:i + 3]) if step == 3 else (line[i],) * 3 for i in range(0, width * step, step)])
    return rows


def halve(rows):
    """Return the means of 2 x 2 pixels."""
    return [[tuple((a[i] + b[i] + c[i] + d[i] + 2) // 4 for i in range(3)) for a, b, c, d in zip(one[::2], one[1::2], two[::2], two[1::2])]
            for one, two in zip(rows[::2], rows[1::2])]


def palette_of(counts, size):
    """Return `size` colours: boxes of colours are cut at their middle, the one of most pixels and widest first (median cut)."""
    boxes = [list(counts)]
    while len(boxes) < size:
        def spread(box):
            return max(max(c[i] for c in box) - min(c[i] for c in box) for i in range(3)) * sum(counts[c] for c in box) ** 0.5
        box = max(boxes, key=spread)
        if len(box) < 2:
            break
        boxes.remove(box)
        axis = max(range(3), key=lambda i: max(c[i] for c in box) - min(c[i] for c in box))
        box.sort(key=lambda c: c[axis])
        middle = len(box) // 2
        boxes += [box[:middle], box[middle:]]
    return {colour: index for index, box in enumerate(boxes) for colour in box}, \
        [max(box, key=lambda c: counts[c]) for box in boxes]


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def encode(rows, colours):
    """Return the bytes of a PNG of `colours` colours at most."""
    bits = 8 if colours > 16 else 4
    coarse = {colour: tuple(v & 0xF8 for v in colour) for row in rows for colour in set(row)}
    counts = collections.Counter(coarse[colour] for row in rows for colour in row)
    index, palette = palette_of(counts, colours)
    shown = [tuple(min(255, v + (v >> 5)) for v in colour) for colour in palette]
    lines = []
    for row in rows:
        line = [index[coarse[colour]] for colour in row]
        if bits == 4:
            line = [a << 4 | b for a, b in zip(line[::2], line[1::2] + [0])]
        lines.append(b"\0" + bytes(line))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), bits, 3, 0, 0, 0)) + \
        chunk(b"PLTE", b"".join(bytes(c) for c in shown)) + chunk(b"IDAT", zlib.compress(b"".join(lines), 9)) + chunk(b"IEND", b"")


def keep(made, place, limit):
    """Copy a picture; a PNG gets smaller until it has at most `limit` bytes."""
    place.parent.mkdir(exist_ok=True)
    if made.suffix != ".png":
        shutil.copy(made, place)
        return
    rows = read(made)
    if len(rows[0]) > 1000:
        rows = halve(rows)
    for colours in (256, 128, 64, 32, 16, 12, 8):
        data = encode(rows, colours)
        if len(data) <= limit:
            place.write_bytes(data)
            return
    raise ValueError(f"{place}: {len(data)} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    keep(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]))

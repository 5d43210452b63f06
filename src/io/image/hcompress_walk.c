/*
 * Four quadrants of a Haar-like transform, each as bit planes from the top: a plane is a list of
 * nybbles, or a quadtree of nybbles in a fixed Huffman code. Then a nybble of 0, and from the next
 * byte on the sign of each value that is not 0.
 * Source: FITS Standard 4.0 (IAU FITS Working Group, 2018), section 10.4.4; R. L. White,
 *         "High-performance compression of astronomical images", NASA CP 3183 (1992); the order of
 *         the nybbles from what CFITSIO 4.2 does.
 */
#include "io/image/hcompress_walk.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"

enum { HEADER = 25, QUADRANTS = 4, MAX_PLANES = 63, LISTED = 0, TREE = 15 };

struct walk {
    const uint8_t *src;
    uint64_t at, end; /* bits */
    bool over;        /* it went on beyond the end */
    size_t rows, columns;
    uint8_t *values; /* 1: the pixel is not 0 */
    uint8_t *codes, *next;
};

static unsigned take_bits(struct walk *w, unsigned count)
{
    unsigned v = 0;
    w->over |= w->at + count > w->end;
    for (unsigned i = 0; i < count && !w->over; i++, w->at++)
        v = v << 1 | (w->src[w->at / 8] >> (7 - w->at % 8) & 1u);
    return v;
}

/* Codes of 3 to 6 bits for 16 nybbles. */
static uint8_t take_code(struct walk *w)
{
    static const uint8_t four[] = {3, 5, 10, 12, 15}, five[] = {6, 7, 9, 11, 13};
    unsigned c = take_bits(w, 3);
    if (c < 4)
        return (uint8_t)(1u << c);
    c = c << 1 | take_bits(w, 1);
    if (c < 13)
        return four[c & 7];
    c = c << 1 | take_bits(w, 1);
    if (c < 31)
        return five[c - 26];
    return take_bits(w, 1) ? 14 : 0;
}

static size_t half(size_t n)
{
    return (n + 1) / 2;
}

/* The bit of a nybble that stands for this place of its four. */
static unsigned bit_at(const uint8_t *codes, size_t columns, size_t y, size_t x)
{
    return codes[y / 2 * half(columns) + x / 2] >> (3 - 2 * (y % 2) - x % 2) & 1u;
}

/* One level down: each set bit of the codes becomes a code of its own. They come last first. */
static void expand(struct walk *w, size_t rows, size_t columns)
{
    for (size_t i = rows * columns; i-- > 0 && !w->over;)
        w->next[i] = bit_at(w->codes, columns, i / columns, i % columns) ? take_code(w) : 0;
    uint8_t *codes = w->next;
    w->next = w->codes;
    w->codes = codes;
}

/* false: a plane of no known kind, where the decoder gives up. */
static bool walk_plane(struct walk *w, size_t rows, size_t columns)
{
    const size_t largest = airy_max_size(rows, columns), count = half(rows) * half(columns);
    const unsigned kind = take_bits(w, 4);
    if (kind == LISTED) {
        for (size_t i = 0; i < count && !w->over; i++)
            w->codes[i] = (uint8_t)take_bits(w, 4);
        return true;
    }
    if (kind != TREE)
        return false;
    unsigned levels = 0;
    while ((size_t)1 << levels < largest)
        levels++;
    w->codes[0] = take_code(w);
    for (unsigned k = levels; k-- > 1 && !w->over;)
        expand(w, ((rows - 1) >> k) + 1, ((columns - 1) >> k) + 1);
    return true;
}

static bool walk_quadrant(struct walk *w, size_t y, size_t x, unsigned planes)
{
    const size_t rows = y ? w->rows / 2 : half(w->rows),
                 columns = x ? w->columns / 2 : half(w->columns);
    uint8_t *values = w->values + y * half(w->rows) * w->columns + x * half(w->columns);
    for (unsigned plane = 0; plane < planes && !w->over; plane++) {
        if (!walk_plane(w, rows, columns))
            return false;
        for (size_t i = 0; i < rows && !w->over; i++)
            for (size_t k = 0; k < columns; k++)
                values[i * w->columns + k] |= (uint8_t)bit_at(w->codes, columns, i, k);
    }
    return true;
}

static void walk_tile(struct walk *w, const uint8_t planes[3])
{
    for (size_t i = 0; i < QUADRANTS && !w->over; i++)
        if (!walk_quadrant(w, i / 2, i % 2, planes[half(i)]))
            return;
    if (take_bits(w, 4) != 0)
        return;
    w->at = (w->at + 7) / 8 * 8;
    for (size_t i = 0; i < w->rows * w->columns; i++)
        w->at += w->values[i];
    w->over |= w->at > w->end;
}

static uint64_t take_u32(const uint8_t *bytes)
{
    return (uint64_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

airy_status airy_hcompress_check(const uint8_t *src, size_t size, size_t pixels)
{
    AIRY_FAIL_IF(size < HEADER, AIRY_ERR_CORRUPT, "HCOMPRESS data of %zu bytes, expected %d", size,
                 HEADER);
    const uint64_t rows = take_u32(src + 2), columns = take_u32(src + 6);
    /* In one row or column a quadrant is empty, and CFITSIO writes into it. */
    AIRY_FAIL_IF(rows < 2 || columns < 2 || rows * columns != pixels, AIRY_ERR_CORRUPT,
                 "HCOMPRESS data of %llu x %llu pixels, expected %zu", (unsigned long long)rows,
                 (unsigned long long)columns, pixels);
    const uint8_t *planes = src + HEADER - 3;
    for (int i = 0; i < 3; i++)
        AIRY_FAIL_IF(planes[i] > MAX_PLANES, AIRY_ERR_CORRUPT,
                     "HCOMPRESS data of %d bit planes, expected at most %d", planes[i], MAX_PLANES);
    const size_t codes = half(half(rows)) * half(half(columns));
    struct walk w = {.src = src,
                     .at = 8 * HEADER,
                     .end = 8 * (uint64_t)size,
                     .rows = rows,
                     .columns = columns,
                     .values = calloc(pixels + 2 * codes, 1)};
    AIRY_FAIL_IF(!w.values, AIRY_ERR_MEMORY, "cannot allocate %zu bytes", pixels + 2 * codes);
    w.codes = w.values + pixels;
    w.next = w.codes + codes;
    walk_tile(&w, planes);
    free(w.values);
    AIRY_FAIL_IF(w.over, AIRY_ERR_CORRUPT, "the HCOMPRESS data end inside a value");
    return AIRY_OK;
}

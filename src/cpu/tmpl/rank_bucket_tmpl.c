/*
 * Ranks in boxes of any dtype, in time that hardly depends on the window: the keys of a tile are
 * sorted once and cut into buckets of the same length, so that a key is a bucket and a place in it.
 * A histogram for each column of the window's height counts the elements up to the end of each
 * bucket; the window's own, to which one column is added and from which one is taken (as of
 * Perreault and Hebert, see cpu_rank_histogram.c), says by one comparison which bucket has the
 * wanted element. Which of the bucket's elements are inside the window is seen from their places
 * in the tile, AIRY_RANK_CHUNK at a time.
 *
 * Compiled once for each instruction set, which may define INSIDE, SELECT and AT_MOST, as
 * they are below.
 */
#include "base/size.h"

/* The first bits of 8 bytes, that of the first byte first. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FIRST_BITS(bytes) ((bytes)*0x8040201008040201u >> 56)
#else
#define FIRST_BITS(bytes) ((bytes)*0x0102040810204080u >> 56)
#endif

/* Bits of the elements at x, y (a chunk of them) that a window at `at` of `taps` elements sees. */
#ifndef INSIDE
static inline uint64_t NAME(inside)(const uint8_t *restrict x, const uint8_t *restrict y,
                                    const uint8_t at[2], const uint8_t taps[2])
{
    uint8_t in[AIRY_RANK_CHUNK];
    uint64_t mask = 0;
    for (int i = 0; i < AIRY_RANK_CHUNK; i++)
        in[i] =
            (uint8_t)(((uint8_t)(x[i] - at[1]) < taps[1]) & ((uint8_t)(y[i] - at[0]) < taps[0]));
    for (int i = 0; i < AIRY_RANK_CHUNK; i += 8) {
        uint64_t eight;
        memcpy(&eight, in + i, sizeof(eight));
        mask |= FIRST_BITS(eight) << i;
    }
    return mask;
}
#define INSIDE NAME(inside)
#endif

/* The place of bit number n, from 0 on, of those that are set. */
#ifndef SELECT
static inline size_t NAME(select)(uint64_t mask, size_t n)
{
    for (; n > 0; n--)
        mask &= mask - 1;
    return (size_t)__builtin_ctzll(mask);
}
#define SELECT NAME(select)
#endif

/* How many of the counts are at most `rank`. */
#ifndef AT_MOST
static inline size_t NAME(at_most)(const uint16_t *counts, uint16_t rank)
{
    uint16_t n = 0;
    for (size_t i = 0; i < AIRY_RANK_BUCKETS; i++)
        n = (uint16_t)(n + (counts[i] <= rank));
    return n;
}
#define AT_MOST NAME(at_most)
#endif

struct buckets {
    const struct airy_rank_slide *slide;
    uint32_t *sorted; /* keys' places in the tile, from the smallest on */
    uint8_t *x, *y;   /* the same as places along the axes; whole chunks */
    uint8_t *bucket;  /* of each key */
    uint8_t (*columns)[AIRY_RANK_BUCKETS];
    size_t chunks; /* of a bucket */
};

/*
 * Quotients by multiplication: those of places below 2^24 and divisors below 2^8 are exact, since
 * the reciprocal is too large by less than the divisor.
 */
static void NAME(fill_buckets)(const struct buckets *b, size_t n)
{
    const struct airy_rank_slide *s = b->slide;
    const uint32_t length = (uint32_t)s->length, rows = (uint32_t)s->rows;
    const uint64_t across = ((uint64_t)1 << 32) / length + 1;
    for (size_t i = 0; i < n; i++) {
        const uint32_t y = (uint32_t)(b->sorted[i] * across >> 32);
        b->x[i] = (uint8_t)(b->sorted[i] - y * length);
        b->y[i] = (uint8_t)(s->planes > 1 ? y % rows : y);
    }
    /* No window reaches there: a tile has at most AIRY_RANK_BUCKET_SIDE rows and columns. */
    memset(b->x + n, AIRY_RANK_BUCKET_SIDE, airy_align_up(n, AIRY_RANK_CHUNK) - n);
    const size_t size = b->chunks * AIRY_RANK_CHUNK;
    for (size_t from = 0, k = 0; from < n; from += size, k++)
        for (size_t i = from; i < airy_min_size(from + size, n); i++)
            b->bucket[b->sorted[i]] = (uint8_t)k;
}

/* A row of the tile, in all planes, into the columns, and row `before` out of them. */
static void NAME(change_columns)(const struct buckets *b, size_t row, size_t before)
{
    const struct airy_rank_slide *s = b->slide;
    for (size_t k = 0; k < s->planes; k++) {
        const uint8_t *in = b->bucket + (k * s->rows + row) * s->length,
                      *out = b->bucket + (k * s->rows + before) * s->length;
        for (size_t x = 0; x < s->length; x++) {
            uint8_t *column = b->columns[x];
            const uint8_t first = in[x], last = row == before ? AIRY_RANK_BUCKETS : out[x];
            for (size_t i = 0; i < AIRY_RANK_BUCKETS; i++)
                column[i] = (uint8_t)(column[i] + ((uint8_t)i >= first) - ((uint8_t)i >= last));
        }
    }
}

/*
 * The place in the tile of the element that `nth` others of its bucket and of the window are
 * smaller than. All of the bucket is looked at: where to stop cannot be foreseen, and to guess
 * wrong takes longer.
 */
static inline uint32_t NAME(find_place)(const struct buckets *b, size_t bucket, size_t nth,
                                        const uint8_t at[2], const uint8_t taps[2])
{
    const size_t from = bucket * b->chunks * AIRY_RANK_CHUNK;
    uint64_t mask[AIRY_RANK_BUCKET_CHUNKS];
    size_t count = 0, below = 0, chunk = 0;
    for (size_t i = 0; i < b->chunks; i++) {
        mask[i] =
            INSIDE(b->x + from + i * AIRY_RANK_CHUNK, b->y + from + i * AIRY_RANK_CHUNK, at, taps);
        count += (size_t)__builtin_popcountll(mask[i]);
        chunk += count <= nth;
        below = count <= nth ? count : below;
    }
    return b->sorted[from + chunk * AIRY_RANK_CHUNK + SELECT(mask[chunk], nth - below)];
}

/* Places of a row of results. */
static void NAME(bucket_row)(const struct buckets *b, uint32_t *to, size_t row)
{
    const struct airy_rank_slide *s = b->slide;
    const uint8_t taps[2] = {(uint8_t)s->taps[0], (uint8_t)s->taps[1]};
    const uint16_t rank = (uint16_t)s->rank;
    /* Whole registers, with nothing in front of the first bucket. */
    _Alignas(64) uint16_t room[32 + AIRY_RANK_BUCKETS] = {0}, *window = room + 32;
    for (size_t x = 0; x < s->taps[1]; x++)
        for (size_t i = 0; i < AIRY_RANK_BUCKETS; i++)
            window[i] = (uint16_t)(window[i] + b->columns[x][i]);
    for (size_t x = 0;; x++) {
        const uint8_t at[2] = {(uint8_t)row, (uint8_t)x};
        const size_t bucket = AT_MOST(window, rank);
        to[x] = NAME(find_place)(b, bucket, (size_t)rank - window[(ptrdiff_t)bucket - 1], at, taps);
        if (x + 1 == s->width)
            break;
        const uint8_t *in = b->columns[x + s->taps[1]], *out = b->columns[x];
        for (size_t k = 0; k < AIRY_RANK_BUCKETS; k++)
            window[k] = (uint16_t)(window[k] + in[k] - out[k]);
    }
}

static void NAME(take_keys)(const struct airy_rank_slide *s, size_t row, const uint32_t *places)
{
    const size_t n = s->width, from = row * n;
    switch (s->elem) {
    case 1:
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)s->results)[from + i] = ((const uint8_t *)s->keys)[places[i]];
        break;
    case 2:
        for (size_t i = 0; i < n; i++)
            ((uint16_t *)s->results)[from + i] = ((const uint16_t *)s->keys)[places[i]];
        break;
    case 4:
        for (size_t i = 0; i < n; i++)
            ((uint32_t *)s->results)[from + i] = ((const uint32_t *)s->keys)[places[i]];
        break;
    default:
        for (size_t i = 0; i < n; i++)
            ((uint64_t *)s->results)[from + i] = ((const uint64_t *)s->keys)[places[i]];
        break;
    }
}

static void NAME(rank_buckets)(const struct airy_rank_slide *s)
{
    const size_t n = s->planes * s->rows * s->length, padded = airy_align_up(n, AIRY_RANK_CHUNK),
                 each = AIRY_RANK_BUCKETS * AIRY_RANK_CHUNK;
    uint8_t *bytes = (uint8_t *)s->scratch + padded * sizeof(uint32_t);
    const struct buckets b = {
        .slide = s,
        .sorted = s->scratch,
        .x = bytes,
        .y = bytes + padded,
        .bucket = bytes + 2 * padded,
        .columns = (uint8_t(*)[AIRY_RANK_BUCKETS])(void *)(bytes + 3 * padded),
        .chunks = (n + each - 1) / each};
    uint32_t places[AIRY_RANK_BUCKET_SIDE];
    airy_rank_sort(b.sorted, bytes, s->keys, s->elem, n);
    NAME(fill_buckets)(&b, n);
    memset(b.columns, 0, s->length * sizeof(b.columns[0]));
    for (size_t y = 0; y + 1 < s->taps[0]; y++)
        NAME(change_columns)(&b, y, y);
    for (size_t y = 0; y < s->height; y++) {
        const size_t last = y + s->taps[0] - 1;
        NAME(change_columns)(&b, last, y > 0 ? y - 1 : last);
        NAME(bucket_row)(&b, places, y);
        NAME(take_keys)(s, y, places);
    }
}

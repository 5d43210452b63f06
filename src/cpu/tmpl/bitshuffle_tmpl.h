/*
 * The bit transpose in vectors of LANES x 16 bytes, for the instruction set of the file that
 * includes this (compiler vectors, no intrinsics). That file defines LANES (1, 2 or 4), NAME(x),
 * and NARROW(x) for rows shorter than a vector.
 *
 * Unshuffling one chunk of columns: for each byte b of the elements, load the 8 rows of its bits,
 * exchange bits between the 8 registers so that register i holds byte b of elements 8 j + i, bring
 * those into order, and last interleave the bytes of an element. Ordering and interleaving are the
 * same network: with registers and bytes counted as one number, an interleaving step of all
 * registers rotates that number's bits left by one.
 */
#include "cpu/cpu_codec.h"

enum { VECTOR = 16 * LANES };

typedef uint8_t vec __attribute__((vector_size(VECTOR)));
typedef uint64_t vec_u64 __attribute__((vector_size(VECTOR)));
/*
 * For loads and stores: compilers split a memcpy of this size, and the halves then wait for each
 * other.
 */
typedef uint8_t vec_bytes __attribute__((vector_size(VECTOR), aligned(1), may_alias));

/*
 * The including file's: lanes l of LANES vectors, one behind the other, to p + l * step; lane l of
 * a vector from p + l * step.
 */
static inline void store_lanes(uint8_t *p, size_t step, const vec v[LANES]);
static inline vec load_lanes(const uint8_t *p, size_t step);

#define ZIP(o)                                                                                     \
    (o) + 0, VECTOR + (o) + 0, (o) + 1, VECTOR + (o) + 1, (o) + 2, VECTOR + (o) + 2, (o) + 3,      \
        VECTOR + (o) + 3, (o) + 4, VECTOR + (o) + 4, (o) + 5, VECTOR + (o) + 5, (o) + 6,           \
        VECTOR + (o) + 6, (o) + 7, VECTOR + (o) + 7
static inline vec zip_low(vec a, vec b)
{
#if LANES == 1
    return __builtin_shufflevector(a, b, ZIP(0));
#elif LANES == 2
    return __builtin_shufflevector(a, b, ZIP(0), ZIP(16));
#else
    return __builtin_shufflevector(a, b, ZIP(0), ZIP(16), ZIP(32), ZIP(48));
#endif
}

static inline vec zip_high(vec a, vec b)
{
#if LANES == 1
    return __builtin_shufflevector(a, b, ZIP(8));
#elif LANES == 2
    return __builtin_shufflevector(a, b, ZIP(8), ZIP(24));
#else
    return __builtin_shufflevector(a, b, ZIP(8), ZIP(24), ZIP(40), ZIP(56));
#endif
}

/* `steps` interleaving steps of n registers. */
static inline void rotate(vec *r, size_t n, size_t steps)
{
    vec t[8];
    for (size_t s = 0; s < steps; s++) {
        for (size_t q = 0; q < n / 2; q++) {
            t[2 * q] = zip_low(r[q], r[q + n / 2]);
            t[2 * q + 1] = zip_high(r[q], r[q + n / 2]);
        }
        for (size_t q = 0; q < n; q++)
            r[q] = t[q];
    }
}

static inline void exchange(vec *a, vec *b, unsigned shift, uint64_t mask)
{
    const vec_u64 x = (vec_u64)*a, y = (vec_u64)*b;
    const vec_u64 t = ((x >> shift) ^ y) & mask;
    *b = (vec)(y ^ t);
    *a = (vec)(x ^ (t << shift));
}

/* Bit i of register k to bit k of register i, in every byte. */
static inline void transpose_bits(vec r[8])
{
    for (size_t k = 0; k < 4; k++)
        exchange(&r[k], &r[k + 4], 4, 0x0f0f0f0f0f0f0f0full);
    for (size_t k = 0; k < 4; k++)
        exchange(&r[(k & 1) + 2 * (k & 2)], &r[(k & 1) + 2 * (k & 2) + 2], 2,
                 0x3333333333333333ull);
    for (size_t k = 0; k < 4; k++)
        exchange(&r[2 * k], &r[2 * k + 1], 1, 0x5555555555555555ull);
}

/* VECTOR columns from j on. `size` bytes an element, 2^log2_size. */
static inline void unshuffle_columns(uint8_t *dst, const uint8_t *src, size_t row, size_t j,
                                     size_t size, size_t log2_size)
{
    vec planes[8][8]; /* [byte][two columns of each lane] */
    for (size_t b = 0; b < size; b++) {
        vec r[8];
        for (size_t k = 0; k < 8; k++)
            r[k] = *(const vec_bytes *)(src + (8 * b + k) * row + j);
        transpose_bits(r);
        rotate(r, 8, 3);
        for (size_t m = 0; m < 8; m++)
            planes[b][m] = r[m];
    }
    /* as many columns as make LANES pieces of a lane each */
    const size_t together = size < LANES ? LANES / size : 1;
    for (size_t m = 0; m < 8; m += together) {
        vec v[8];
        for (size_t g = 0; g < together; g++) {
            for (size_t b = 0; b < size; b++)
                v[g * size + b] = planes[b][m + g];
            rotate(v + g * size, size, log2_size);
        }
        for (size_t q = 0; q < together * size; q += LANES)
            store_lanes(dst + 8 * (j + 2 * m) * size + 16 * q, 128 * size, v + q);
    }
}

static inline void shuffle_columns(uint8_t *dst, const uint8_t *src, size_t row, size_t j,
                                   size_t size)
{
    vec planes[8][8];
    for (size_t m = 0; m < 8; m++) {
        vec v[8];
        for (size_t q = 0; q < size; q++)
            v[q] = load_lanes(src + 8 * (j + 2 * m) * size + 16 * q, 128 * size);
        if (size > 1)
            rotate(v, size, 4);
        for (size_t b = 0; b < size; b++)
            planes[b][m] = v[b];
    }
    for (size_t b = 0; b < size; b++) {
        vec r[8];
        for (size_t m = 0; m < 8; m++)
            r[m] = planes[b][m];
        rotate(r, 8, 4);
        transpose_bits(r);
        for (size_t k = 0; k < 8; k++)
            *(vec_bytes *)(dst + (8 * b + k) * row + j) = r[k];
    }
}

/*
 * All columns; the last chunk ends with the row and may overlap the one before. row is at least
 * VECTOR.
 */
static inline void unshuffle_rows(uint8_t *dst, const uint8_t *src, size_t row, size_t size,
                                  size_t log2_size)
{
    for (size_t j = 0; j + VECTOR <= row; j += VECTOR)
        unshuffle_columns(dst, src, row, j, size, log2_size);
    if (row % VECTOR)
        unshuffle_columns(dst, src, row, row - VECTOR, size, log2_size);
}

static inline void shuffle_rows(uint8_t *dst, const uint8_t *src, size_t row, size_t size)
{
    for (size_t j = 0; j + VECTOR <= row; j += VECTOR)
        shuffle_columns(dst, src, row, j, size);
    if (row % VECTOR)
        shuffle_columns(dst, src, row, row - VECTOR, size);
}

void NAME(airy_bitunshuffle)(uint8_t *dst, const uint8_t *src, size_t elements, size_t elem_size)
{
    const size_t row = elements / 8;
    if (row < VECTOR)
        NARROW(airy_bitunshuffle)(dst, src, elements, elem_size);
    else if (elem_size == 1)
        unshuffle_rows(dst, src, row, 1, 0);
    else if (elem_size == 2)
        unshuffle_rows(dst, src, row, 2, 1);
    else if (elem_size == 4)
        unshuffle_rows(dst, src, row, 4, 2);
    else if (elem_size == 8)
        unshuffle_rows(dst, src, row, 8, 3);
    else
        airy_bitunshuffle_portable(dst, src, elements, elem_size);
}

void NAME(airy_bitshuffle)(uint8_t *dst, const uint8_t *src, size_t elements, size_t elem_size)
{
    const size_t row = elements / 8;
    if (row < VECTOR)
        NARROW(airy_bitshuffle)(dst, src, elements, elem_size);
    else if (elem_size == 1)
        shuffle_rows(dst, src, row, 1);
    else if (elem_size == 2)
        shuffle_rows(dst, src, row, 2);
    else if (elem_size == 4)
        shuffle_rows(dst, src, row, 4);
    else if (elem_size == 8)
        shuffle_rows(dst, src, row, 8);
    else
        airy_bitshuffle_portable(dst, src, elements, elem_size);
}

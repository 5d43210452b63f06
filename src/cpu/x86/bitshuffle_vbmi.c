/*
 * Unshuffling with byte permutes over a whole register and the bit-matrix product of GFNI: eight
 * rows of eight columns are brought together as 8 x 8 bit matrices, one instruction transposes
 * each of them.
 */
#include <immintrin.h>

#include "cpu/cpu_codec.h"

/* Columns a step: 16 bytes of each row. */
enum { STEP = 16 };

struct pair {
    __m512i low, high;
};

/*
 * Byte b of the elements of 16 columns: 64 elements in `low`, the next 64 in `high`. rows: the
 * first of the byte's 8 rows; order: where the bytes of the matrices of 8 columns are in [row 0 |
 * row 4 | row 1 | row 5 ...], 8 columns each.
 */
static inline struct pair unshuffle_byte(const uint8_t *rows, size_t row, __m512i order)
{
#define ROW(k) _mm_loadu_si128((const __m128i *)(const void *)(rows + (k)*row))
    __m512i a = _mm512_castsi128_si512(ROW(0)), b = _mm512_castsi128_si512(ROW(4));
    a = _mm512_inserti32x4(a, ROW(1), 1);
    b = _mm512_inserti32x4(b, ROW(5), 1);
    a = _mm512_inserti32x4(a, ROW(2), 2);
    b = _mm512_inserti32x4(b, ROW(6), 2);
    a = _mm512_inserti32x4(a, ROW(3), 3);
    b = _mm512_inserti32x4(b, ROW(7), 3);
#undef ROW
    /*
     * y = A x with x = unit vectors gives the columns of A; its rows count from the matrix's last
     * byte.
     */
    const __m512i units = _mm512_set1_epi64((long long)0x8040201008040201ull);
    const __m512i low = _mm512_permutexvar_epi8(order, _mm512_unpacklo_epi64(a, b));
    const __m512i high = _mm512_permutexvar_epi8(order, _mm512_unpackhi_epi64(a, b));
    return (struct pair){_mm512_gf2p8affine_epi64_epi8(units, low, 0),
                         _mm512_gf2p8affine_epi64_epi8(units, high, 0)};
}

static inline void store(uint8_t *p, __m512i v)
{
    _mm512_storeu_si512(p, v);
}

/* Lanes 0 and 1 of a and b in turn to p, lanes 2 and 3 to p + step. */
static inline void store_lanes(uint8_t *p, size_t step, __m512i a, __m512i b)
{
    const __m512i front = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i back = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    store(p, _mm512_permutex2var_epi64(a, front, b));
    store(p + step, _mm512_permutex2var_epi64(a, back, b));
}

/*
 * 64 elements of 2 bytes; the columns come as 0 4 1 5 2 6 3 7, so that interleaving within lanes
 * gives memory order.
 */
static inline void store_2(uint8_t *dst, __m512i b0, __m512i b1)
{
    store(dst, _mm512_unpacklo_epi8(b0, b1));
    store(dst + 64, _mm512_unpackhi_epi8(b0, b1));
}

/* 64 elements of 4 bytes; the columns come as 0 4 1 5 2 6 3 7. */
static inline void store_4(uint8_t *dst, const __m512i b[4])
{
    const __m512i low01 = _mm512_unpacklo_epi8(b[0], b[1]),
                  high01 = _mm512_unpackhi_epi8(b[0], b[1]);
    const __m512i low23 = _mm512_unpacklo_epi8(b[2], b[3]),
                  high23 = _mm512_unpackhi_epi8(b[2], b[3]);
    store_lanes(dst, 64, _mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23));
    store_lanes(dst + 128, 64, _mm512_unpacklo_epi16(high01, high23),
                _mm512_unpackhi_epi16(high01, high23));
}

/* Lane l of the four: pairs of elements of column l. */
static inline void store_column_pairs(uint8_t *dst, __m512i e01, __m512i e23, __m512i e45,
                                      __m512i e67)
{
    const __m512i front = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i back = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const __m512i a = _mm512_permutex2var_epi64(e01, front, e23),
                  b = _mm512_permutex2var_epi64(e45, front, e67);
    const __m512i c = _mm512_permutex2var_epi64(e01, back, e23),
                  d = _mm512_permutex2var_epi64(e45, back, e67);
    store(dst, _mm512_shuffle_i64x2(a, b, 0x44));
    store(dst + 64, _mm512_shuffle_i64x2(a, b, 0xee));
    store(dst + 128, _mm512_shuffle_i64x2(c, d, 0x44));
    store(dst + 192, _mm512_shuffle_i64x2(c, d, 0xee));
}

static inline void store_8(uint8_t *dst, const __m512i b[8])
{
    for (int half = 0; half < 2; half++) {
        __m512i w[4];
        for (int i = 0; i < 4; i++)
            w[i] = half ? _mm512_unpackhi_epi8(b[2 * i], b[2 * i + 1])
                        : _mm512_unpacklo_epi8(b[2 * i], b[2 * i + 1]);
        const __m512i low0 = _mm512_unpacklo_epi16(w[0], w[1]),
                      high0 = _mm512_unpackhi_epi16(w[0], w[1]);
        const __m512i low1 = _mm512_unpacklo_epi16(w[2], w[3]),
                      high1 = _mm512_unpackhi_epi16(w[2], w[3]);
        const __m512i e01 = _mm512_unpacklo_epi32(low0, low1),
                      e23 = _mm512_unpackhi_epi32(low0, low1);
        const __m512i e45 = _mm512_unpacklo_epi32(high0, high1),
                      e67 = _mm512_unpackhi_epi32(high0, high1);
        store_column_pairs(dst + 256 * half, e01, e23, e45, e67);
    }
}

static inline void unshuffle_columns(uint8_t *dst, const uint8_t *src, size_t row, size_t j,
                                     size_t size, __m512i order)
{
    __m512i low[8], high[8];
    for (size_t b = 0; b < size; b++) {
        const struct pair p = unshuffle_byte(src + 8 * b * row + j, row, order);
        low[b] = p.low;
        high[b] = p.high;
    }
    dst += 8 * j * size;
    if (size == 1) {
        store(dst, low[0]);
        store(dst + 64, high[0]);
    } else if (size == 2) {
        store_2(dst, low[0], low[1]);
        store_2(dst + 128, high[0], high[1]);
    } else if (size == 4) {
        store_4(dst, low);
        store_4(dst + 256, high);
    } else {
        store_8(dst, low);
        store_8(dst + 512, high);
    }
}

/*
 * All columns; the last step ends with the row and may overlap the one before. row is at least
 * STEP.
 */
static inline void unshuffle_rows(uint8_t *dst, const uint8_t *src, size_t row, size_t size)
{
    /* Byte 7 - k of column c's matrix is row k, which stands in lane k mod 4, half k / 4. */
    uint8_t place[64];
    for (unsigned q = 0; q < 8; q++) {
        const unsigned column = size > 1 ? (q & 1) * 4 + q / 2 : q;
        for (unsigned k = 0; k < 8; k++)
            place[8 * q + 7 - k] = (uint8_t)((k & 3) * 16 + k / 4 * 8 + column);
    }
    const __m512i order = _mm512_loadu_si512(place);
    for (size_t j = 0; j + STEP <= row; j += STEP)
        unshuffle_columns(dst, src, row, j, size, order);
    if (row % STEP)
        unshuffle_columns(dst, src, row, row - STEP, size, order);
}

void airy_bitunshuffle_vbmi(uint8_t *dst, const uint8_t *src, size_t elements, size_t elem_size)
{
    const size_t row = elements / 8;
    if (row < STEP)
        airy_bitunshuffle_portable(dst, src, elements, elem_size);
    else if (elem_size == 1)
        unshuffle_rows(dst, src, row, 1);
    else if (elem_size == 2)
        unshuffle_rows(dst, src, row, 2);
    else if (elem_size == 4)
        unshuffle_rows(dst, src, row, 4);
    else if (elem_size == 8)
        unshuffle_rows(dst, src, row, 8);
    else
        airy_bitunshuffle_portable(dst, src, elements, elem_size);
}

/*
 * Byte permutes over a whole register and the bit-matrix product of GFNI: eight rows of eight
 * columns are brought together as 8 x 8 bit matrices, one instruction transposes each of them; and
 * the same way back.
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

/* Columns a step of the way back: a register of each row. */
enum { BACK_STEP = 64 };

static inline __m512i load(const uint8_t *p)
{
    return _mm512_loadu_si512(p);
}

/* Lane i of the four to lane k of out[i]. */
static inline void transpose_lanes(__m512i out[4], __m512i a, __m512i b, __m512i c, __m512i d)
{
    const __m512i ab01 = _mm512_shuffle_i64x2(a, b, 0x44), ab23 = _mm512_shuffle_i64x2(a, b, 0xee);
    const __m512i cd01 = _mm512_shuffle_i64x2(c, d, 0x44), cd23 = _mm512_shuffle_i64x2(c, d, 0xee);
    out[0] = _mm512_shuffle_i64x2(ab01, cd01, 0x88);
    out[1] = _mm512_shuffle_i64x2(ab01, cd01, 0xdd);
    out[2] = _mm512_shuffle_i64x2(ab23, cd23, 0x88);
    out[3] = _mm512_shuffle_i64x2(ab23, cd23, 0xdd);
}

/* 8 bytes k of register i to 8 bytes i of register k. */
static inline void transpose_words(__m512i r[8])
{
    __m512i t[8], even[4], odd[4];
    for (int i = 0; i < 4; i++) {
        t[2 * i] = _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);
    }
    transpose_lanes(even, t[0], t[2], t[4], t[6]);
    transpose_lanes(odd, t[1], t[3], t[5], t[7]);
    for (int i = 0; i < 4; i++) {
        r[2 * i] = even[i];
        r[2 * i + 1] = odd[i];
    }
}

/* Byte b of 64 elements to bytes[b], as `order` says within a register. */
static inline void split_bytes(__m512i bytes[8], const uint8_t *src, size_t size, __m512i order)
{
    __m512i v[8];
    for (size_t i = 0; i < size; i++)
        v[i] = _mm512_permutexvar_epi8(order, load(src + 64 * i));
    if (size == 2) {
        bytes[0] = _mm512_shuffle_i64x2(v[0], v[1], 0x44);
        bytes[1] = _mm512_shuffle_i64x2(v[0], v[1], 0xee);
    } else if (size == 4) {
        transpose_lanes(bytes, v[0], v[1], v[2], v[3]);
    } else {
        if (size == 8)
            transpose_words(v);
        for (size_t i = 0; i < size; i++)
            bytes[i] = v[i];
    }
}

/* 64 columns of the eight rows of one byte: r[m] has the byte of 64 elements. */
static inline void shuffle_byte(uint8_t *dst, size_t row, __m512i r[8], __m512i across)
{
    __m512i any = r[0];
    for (int m = 1; m < 8; m++)
        any = _mm512_or_si512(any, r[m]);
    if (_mm512_test_epi64_mask(any, any) != 0) { /* low counts have upper bytes of 0 */
        const __m512i units = _mm512_set1_epi64((long long)0x8040201008040201ull);
        for (int m = 0; m < 8; m++)
            r[m] = _mm512_permutexvar_epi8(across, _mm512_gf2p8affine_epi64_epi8(units, r[m], 0));
        transpose_words(r);
    }
    for (size_t k = 0; k < 8; k++)
        store(dst + k * row, r[k]);
}

static inline void shuffle_columns(uint8_t *dst, const uint8_t *src, size_t row, size_t j,
                                   size_t size, __m512i order, __m512i across)
{
    __m512i parts[8][8]; /* [byte][64 elements] */
    for (size_t m = 0; m < 8; m++) {
        __m512i bytes[8];
        split_bytes(bytes, src + 8 * size * (j + 8 * m), size, order);
        for (size_t b = 0; b < size; b++)
            parts[b][m] = bytes[b];
    }
    for (size_t b = 0; b < size; b++)
        shuffle_byte(dst + 8 * b * row + j, row, parts[b], across);
}

/* As unshuffle_rows; row is at least BACK_STEP. */
static inline void shuffle_rows(uint8_t *dst, const uint8_t *src, size_t row, size_t size)
{
    /*
     * Of a register's 64 / size elements, byte after byte; the element that becomes bit i of a row
     * is the matrix's byte 7 - i. Then byte k of matrix g goes to byte g of row k.
     */
    uint8_t place[64], turn[64];
    const size_t elements = 64 / size;
    for (size_t i = 0; i < 64; i++) {
        const size_t element = i % elements, b = i / elements;
        place[i] = (uint8_t)((element ^ 7) * size + b);
        turn[i] = (uint8_t)(i % 8 * 8 + i / 8);
    }
    const __m512i order = load(place), across = load(turn);
    for (size_t j = 0; j + BACK_STEP <= row; j += BACK_STEP)
        shuffle_columns(dst, src, row, j, size, order, across);
    if (row % BACK_STEP)
        shuffle_columns(dst, src, row, row - BACK_STEP, size, order, across);
}

void airy_bitshuffle_vbmi(uint8_t *dst, const uint8_t *src, size_t elements, size_t elem_size)
{
    const size_t row = elements / 8;
    if (row < BACK_STEP)
        airy_bitshuffle_avx2(dst, src, elements, elem_size);
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

#define LANES     4
#define NAME(x)   x##_avx512
#define NARROW(x) x##_avx2
#include "cpu/tmpl/bitshuffle_tmpl.h"

#include <immintrin.h>

/* The 4 x 4 lanes transposed. */
static inline void store_lanes(uint8_t *p, size_t step, const vec v[LANES])
{
    const __m512i a = (__m512i)v[0], b = (__m512i)v[1], c = (__m512i)v[2], d = (__m512i)v[3];
    const __m512i ab01 = _mm512_shuffle_i64x2(a, b, 0x44), ab23 = _mm512_shuffle_i64x2(a, b, 0xee);
    const __m512i cd01 = _mm512_shuffle_i64x2(c, d, 0x44), cd23 = _mm512_shuffle_i64x2(c, d, 0xee);
    _mm512_storeu_si512(p, _mm512_shuffle_i64x2(ab01, cd01, 0x88));
    _mm512_storeu_si512(p + step, _mm512_shuffle_i64x2(ab01, cd01, 0xdd));
    _mm512_storeu_si512(p + 2 * step, _mm512_shuffle_i64x2(ab23, cd23, 0x88));
    _mm512_storeu_si512(p + 3 * step, _mm512_shuffle_i64x2(ab23, cd23, 0xdd));
}

static inline __m128i load_lane(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline vec load_lanes(const uint8_t *p, size_t step)
{
    __m512i r = _mm512_castsi128_si512(load_lane(p));
    r = _mm512_inserti32x4(r, load_lane(p + step), 1);
    r = _mm512_inserti32x4(r, load_lane(p + 2 * step), 2);
    return (vec)_mm512_inserti32x4(r, load_lane(p + 3 * step), 3);
}

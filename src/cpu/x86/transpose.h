/* Squares of floats in registers, line by line, for the set that the file is compiled for. */
#ifndef AIRY_CPU_X86_TRANSPOSE_H
#define AIRY_CPU_X86_TRANSPOSE_H

#include <immintrin.h>

#ifdef __AVX512F__
/* The 4 x 4 quarters of u, which are 16 bytes each, change places. */
static inline void quarters_f32(__m512 *to, size_t step, __m512 u0, __m512 u1, __m512 u2, __m512 u3)
{
    const __m512 a = _mm512_shuffle_f32x4(u0, u1, 0x44), b = _mm512_shuffle_f32x4(u0, u1, 0xee),
                 c = _mm512_shuffle_f32x4(u2, u3, 0x44), d = _mm512_shuffle_f32x4(u2, u3, 0xee);
    to[0] = _mm512_shuffle_f32x4(a, c, 0x88);
    to[step] = _mm512_shuffle_f32x4(a, c, 0xdd);
    to[2 * step] = _mm512_shuffle_f32x4(b, d, 0x88);
    to[3 * step] = _mm512_shuffle_f32x4(b, d, 0xdd);
}

/* Four lines of four at a time inside of the quarters, then the quarters. */
static inline void transpose16(__m512 v[16])
{
    __m512 t[16], r[16];
    for (size_t i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(v[i], v[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(v[i], v[i + 1]);
    }
    for (size_t i = 0; i < 16; i += 4)
        for (size_t k = 0; k < 2; k++) {
            const __m512d a = _mm512_castps_pd(t[i + k]), b = _mm512_castps_pd(t[i + k + 2]);
            r[i + 2 * k] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
            r[i + 2 * k + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
        }
    for (size_t c = 0; c < 4; c++)
        quarters_f32(v + c, 4, r[c], r[4 + c], r[8 + c], r[12 + c]);
}
#else
/* Four lines of four at a time inside of the halves, then the halves. */
static inline void transpose8(__m256 v[8])
{
    __m256 t[8], r[8];
    for (size_t i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
    }
    for (size_t i = 0; i < 8; i += 4)
        for (size_t k = 0; k < 2; k++) {
            const __m256d a = _mm256_castps_pd(t[i + k]), b = _mm256_castps_pd(t[i + k + 2]);
            r[i + 2 * k] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b));
            r[i + 2 * k + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, b));
        }
    for (size_t c = 0; c < 4; c++) {
        v[c] = _mm256_permute2f128_ps(r[c], r[4 + c], 0x20);
        v[4 + c] = _mm256_permute2f128_ps(r[c], r[4 + c], 0x31);
    }
}
#endif

#endif

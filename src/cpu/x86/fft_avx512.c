/* The transforms with AVX-512. */
#include <immintrin.h>

#include "cpu/cpu_fft.h"

#define SET avx512
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

#define TYPE      f32
#define W         float
#define V         __m512
#define WIDTH     16
#define LOAD      _mm512_loadu_ps
#define STORE     _mm512_storeu_ps
#define SPLAT     _mm512_set1_ps
#define ADD       _mm512_add_ps
#define SUB       _mm512_sub_ps
#define MUL       _mm512_mul_ps
#define MADD      _mm512_fmadd_ps
#define MSUB      _mm512_fmsub_ps
#define NMADD     _mm512_fnmadd_ps
#define TRANSPOSE transpose16
#include "cpu/fft_tmpl.c"

static inline void quarters_f64(__m512d *to, size_t step, __m512d u0, __m512d u1, __m512d u2,
                                __m512d u3)
{
    const __m512d a = _mm512_shuffle_f64x2(u0, u1, 0x44), b = _mm512_shuffle_f64x2(u0, u1, 0xee),
                  c = _mm512_shuffle_f64x2(u2, u3, 0x44), d = _mm512_shuffle_f64x2(u2, u3, 0xee);
    to[0] = _mm512_shuffle_f64x2(a, c, 0x88);
    to[step] = _mm512_shuffle_f64x2(a, c, 0xdd);
    to[2 * step] = _mm512_shuffle_f64x2(b, d, 0x88);
    to[3 * step] = _mm512_shuffle_f64x2(b, d, 0xdd);
}

static inline void transpose8(__m512d v[8])
{
    __m512d t[8];
    for (size_t i = 0; i < 8; i += 2) {
        t[i] = _mm512_unpacklo_pd(v[i], v[i + 1]);
        t[i + 1] = _mm512_unpackhi_pd(v[i], v[i + 1]);
    }
    for (size_t c = 0; c < 2; c++)
        quarters_f64(v + c, 2, t[c], t[2 + c], t[4 + c], t[6 + c]);
}

#define TYPE      f64
#define W         double
#define V         __m512d
#define WIDTH     8
#define LOAD      _mm512_loadu_pd
#define STORE     _mm512_storeu_pd
#define SPLAT     _mm512_set1_pd
#define ADD       _mm512_add_pd
#define SUB       _mm512_sub_pd
#define MUL       _mm512_mul_pd
#define MADD      _mm512_fmadd_pd
#define MSUB      _mm512_fmsub_pd
#define NMADD     _mm512_fnmadd_pd
#define TRANSPOSE transpose8
#include "cpu/fft_tmpl.c"

const struct airy_fft_kernels airy_fft_avx512 = {.f32 = AIRY_FFT_TABLE(f32, avx512),
                                                 .f64 = AIRY_FFT_TABLE(f64, avx512)};

/* The transforms with AVX-512. */
#include <immintrin.h>

#include "cpu/cpu_fft.h"
#include "cpu/x86/transpose.h"

#define SET       avx512
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
#include "cpu/tmpl/fft_tmpl.c"

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
#include "cpu/tmpl/fft_tmpl.c"

const struct airy_fft_kernels airy_fft_avx512 = {.f32 = AIRY_FFT_TABLE(f32, avx512),
                                                 .f64 = AIRY_FFT_TABLE(f64, avx512)};

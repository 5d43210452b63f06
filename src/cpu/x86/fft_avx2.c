/* The transforms with AVX2. */
#include <immintrin.h>

#include "cpu/cpu_fft.h"
#include "cpu/x86/transpose.h"

#define SET       avx2
#define TYPE      f32
#define W         float
#define V         __m256
#define WIDTH     8
#define LOAD      _mm256_loadu_ps
#define STORE     _mm256_storeu_ps
#define SPLAT     _mm256_set1_ps
#define ADD       _mm256_add_ps
#define SUB       _mm256_sub_ps
#define MUL       _mm256_mul_ps
#define MADD      _mm256_fmadd_ps
#define MSUB      _mm256_fmsub_ps
#define NMADD     _mm256_fnmadd_ps
#define TRANSPOSE transpose8
#include "cpu/tmpl/fft_tmpl.c"

static inline void transpose4(__m256d v[4])
{
    const __m256d a = _mm256_unpacklo_pd(v[0], v[1]), b = _mm256_unpackhi_pd(v[0], v[1]),
                  c = _mm256_unpacklo_pd(v[2], v[3]), d = _mm256_unpackhi_pd(v[2], v[3]);
    v[0] = _mm256_permute2f128_pd(a, c, 0x20);
    v[1] = _mm256_permute2f128_pd(b, d, 0x20);
    v[2] = _mm256_permute2f128_pd(a, c, 0x31);
    v[3] = _mm256_permute2f128_pd(b, d, 0x31);
}

#define TYPE      f64
#define W         double
#define V         __m256d
#define WIDTH     4
#define LOAD      _mm256_loadu_pd
#define STORE     _mm256_storeu_pd
#define SPLAT     _mm256_set1_pd
#define ADD       _mm256_add_pd
#define SUB       _mm256_sub_pd
#define MUL       _mm256_mul_pd
#define MADD      _mm256_fmadd_pd
#define MSUB      _mm256_fmsub_pd
#define NMADD     _mm256_fnmadd_pd
#define TRANSPOSE transpose4
#include "cpu/tmpl/fft_tmpl.c"

const struct airy_fft_kernels airy_fft_avx2 = {.f32 = AIRY_FFT_TABLE(f32, avx2),
                                               .f64 = AIRY_FFT_TABLE(f64, avx2)};

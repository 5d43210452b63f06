/* The kernels of rings with AVX-512. */
#include <immintrin.h>

#include "cpu/cpu_rings.h"

/* Stores are whole: to compress into memory is slow where it is done in steps. */
static inline size_t keep_avx512(struct airy_ring_list *to, size_t n,
                                 const struct airy_ring_list *from, size_t i, __m512i in)
{
    const __mmask8 mask = _mm512_movepi64_mask(in);
    const __m256i at = from->at ? _mm256_loadu_si256((const void *)(from->at + i))
                                : _mm256_add_epi32(_mm256_set1_epi32((int)i),
                                                   _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    _mm512_storeu_pd(to->x + n, _mm512_maskz_compress_pd(mask, _mm512_loadu_pd(from->x + i)));
    _mm512_storeu_pd(to->g + n, _mm512_maskz_compress_pd(mask, _mm512_loadu_pd(from->g + i)));
    _mm256_storeu_si256((void *)(to->at + n), _mm256_maskz_compress_epi32(mask, at));
    return n + (size_t)_mm_popcnt_u32(mask);
}

static inline size_t keep_terms_avx512(struct airy_ring_bin *to, size_t n, __m512d s, __m512d omega,
                                       __m512d c, __m512d v, __m512i in)
{
    const __mmask8 mask = _mm512_movepi64_mask(in);
    _mm512_storeu_pd(to->s + n, _mm512_maskz_compress_pd(mask, s));
    _mm512_storeu_pd(to->omega + n, _mm512_maskz_compress_pd(mask, omega));
    _mm512_storeu_pd(to->c + n, _mm512_maskz_compress_pd(mask, c));
    _mm512_storeu_pd(to->v + n, _mm512_maskz_compress_pd(mask, v));
    return n + (size_t)_mm_popcnt_u32(mask);
}

/* Places of pixels are signed for this instruction: the caller sees to it. */
static inline __m256i gather_avx512(const void *pixels, const uint32_t *pixel)
{
    return _mm256_i32gather_epi32(pixels, _mm256_loadu_si256((const void *)pixel), 4);
}

#define GATHER_u32(pixels, pixel) _mm512_cvtepu32_pd(gather_avx512((pixels), (pixel)))
#define GATHER_i32(pixels, pixel) _mm512_cvtepi32_pd(gather_avx512((pixels), (pixel)))
#define GATHER_f32(pixels, pixel)                                                                  \
    _mm512_cvtps_pd(_mm256_castsi256_ps(gather_avx512((pixels), (pixel))))
#define KEEP_TERMS(to, n, s, omega, c, v, in)                                                      \
    keep_terms_avx512((to), (n), (__m512d)(s), (__m512d)(omega), (__m512d)(c), (__m512d)(v),       \
                      (__m512i)(in))
#define KEEP(to, n, from, i, in) keep_avx512((to), (n), (from), (i), (__m512i)(in))
#define SET                      avx512
#include "cpu/tmpl/rings_tmpl.c"

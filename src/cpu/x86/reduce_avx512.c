/* The reduce kernels with AVX-512. */
#include <immintrin.h>
#include <stdint.h>

static inline size_t keep_avx512(double *dst, const double *values, __m512i in)
{
    const __mmask8 mask = _mm512_movepi64_mask(in);
    _mm512_storeu_pd(dst, _mm512_maskz_compress_pd(mask, _mm512_load_pd(values)));
    return (size_t)__builtin_popcount(mask);
}

#define KEEP(dst, values, in) keep_avx512((dst), (values), (__m512i)(in))
#define SET                   avx512
#include "cpu/tmpl/reduce_tmpl.c"

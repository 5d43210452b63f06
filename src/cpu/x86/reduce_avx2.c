/* The reduce kernels with AVX2. */
#include <immintrin.h>
#include <stdint.h>

/* Most vectors have none. */
static inline size_t keep_avx2(double *dst, const double *values, __m256d in)
{
    size_t k = 0;
    for (unsigned mask = (unsigned)_mm256_movemask_pd(in); mask; mask &= mask - 1)
        dst[k++] = values[__builtin_ctz(mask)];
    return k;
}

#define KEEP(dst, values, in) keep_avx2((dst), (values), (__m256d)(in))
#define SET                   avx2
#include "cpu/tmpl/reduce_tmpl.c"

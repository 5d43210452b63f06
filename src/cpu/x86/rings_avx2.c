/* The kernels of rings with AVX2. */
#include <immintrin.h>

#include "cpu/cpu_rings.h"

static inline size_t keep_avx2(struct airy_ring_list *to, size_t n,
                               const struct airy_ring_list *from, size_t i, __m256d in)
{
    for (unsigned mask = (unsigned)_mm256_movemask_pd(in); mask; mask &= mask - 1) {
        const size_t k = i + (unsigned)__builtin_ctz(mask);
        to->x[n] = from->x[k];
        to->g[n] = from->g[k];
        to->at[n++] = from->at ? from->at[k] : (uint32_t)k;
    }
    return n;
}

static inline size_t keep_terms_avx2(struct airy_ring_bin *to, size_t n, __m256d s, __m256d omega,
                                     __m256d c, __m256d v, __m256d in)
{
    for (unsigned mask = (unsigned)_mm256_movemask_pd(in); mask; mask &= mask - 1) {
        const unsigned k = (unsigned)__builtin_ctz(mask);
        to->s[n] = s[k];
        to->omega[n] = omega[k];
        to->c[n] = c[k];
        to->v[n++] = v[k];
    }
    return n;
}

#define KEEP_TERMS(to, n, s, omega, c, v, in)                                                      \
    keep_terms_avx2((to), (n), (__m256d)(s), (__m256d)(omega), (__m256d)(c), (__m256d)(v),         \
                    (__m256d)(in))
#define KEEP(to, n, from, i, in) keep_avx2((to), (n), (from), (i), (__m256d)(in))
#define SET                      avx2
#include "cpu/tmpl/rings_tmpl.c"

#define LANES     2
#define NAME(x)   x##_avx2
#define NARROW(x) x##_sse2
#include "cpu/tmpl/bitshuffle_tmpl.h"

#include <immintrin.h>

static inline void store_lanes(uint8_t *p, size_t step, const vec v[LANES])
{
    const __m256i a = (__m256i)v[0], b = (__m256i)v[1];
    _mm256_storeu_si256((__m256i *)(void *)p, _mm256_permute2x128_si256(a, b, 0x20));
    _mm256_storeu_si256((__m256i *)(void *)(p + step), _mm256_permute2x128_si256(a, b, 0x31));
}

static inline vec load_lanes(const uint8_t *p, size_t step)
{
    return (vec)_mm256_loadu2_m128i((const __m128i *)(const void *)(p + step),
                                    (const __m128i *)(const void *)p);
}

/* The kernels of rank filters with AVX2. */
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of v that are in [at, at + taps), all bits of them set. */
static inline __m256i within_avx2(const uint8_t *v, uint8_t at, uint8_t taps)
{
    const __m256i d = _mm256_sub_epi8(_mm256_loadu_si256((const __m256i *)(const void *)v),
                                      _mm256_set1_epi8((char)at));
    return _mm256_cmpeq_epi8(_mm256_min_epu8(d, _mm256_set1_epi8((char)(taps - 1))), d);
}

/* As of rank_bucket_tmpl.c. */
static inline uint64_t inside_avx2(const uint8_t *x, const uint8_t *y, const uint8_t at[2],
                                   const uint8_t taps[2])
{
    uint64_t mask = 0;
    for (int i = 0; i < 2; i++) {
        const __m256i in = _mm256_and_si256(within_avx2(x + 32 * i, at[1], taps[1]),
                                            within_avx2(y + 32 * i, at[0], taps[0]));
        mask |= (uint64_t)(uint32_t)_mm256_movemask_epi8(in) << 32 * i;
    }
    return mask;
}

#define INSIDE    inside_avx2
#define SET       avx2
#define RATE      100
#define BUCKET_NS 55
#include "cpu/tmpl/rank_tmpl.c"

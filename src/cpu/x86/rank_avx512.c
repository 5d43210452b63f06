/* The kernels of rank filters with AVX-512. */
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/cpu_rank.h"

/* As of rank_bucket_tmpl.c. */
static inline uint64_t inside_avx512(const uint8_t *x, const uint8_t *y, const uint8_t at[2],
                                     const uint8_t taps[2])
{
    const __m512i across = _mm512_sub_epi8(_mm512_loadu_si512(x), _mm512_set1_epi8((char)at[1])),
                  down = _mm512_sub_epi8(_mm512_loadu_si512(y), _mm512_set1_epi8((char)at[0]));
    const __mmask64 in = _mm512_cmplt_epu8_mask(across, _mm512_set1_epi8((char)taps[1]));
    return _mm512_mask_cmplt_epu8_mask(in, down, _mm512_set1_epi8((char)taps[0]));
}

static inline size_t select_avx512(uint64_t mask, size_t n)
{
    return _tzcnt_u64(_pdep_u64((uint64_t)1 << n, mask));
}

static inline size_t at_most_avx512(const uint16_t *counts, uint16_t rank)
{
    const __m512i limit = _mm512_set1_epi16((short)rank);
    size_t n = 0;
    for (int i = 0; i < AIRY_RANK_BUCKETS; i += 32)
        n += (size_t)_mm_popcnt_u32(_mm512_cmple_epu16_mask(_mm512_loadu_si512(counts + i), limit));
    return n;
}

#define AT_MOST   at_most_avx512
#define INSIDE    inside_avx512
#define SELECT    select_avx512
#define SET       avx512
#define RATE      150
#define BUCKET_NS 30
#include "cpu/tmpl/rank_tmpl.c"

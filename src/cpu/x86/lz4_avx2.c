#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

/* Row o: i mod o for i = 0 to 31; rows 0 and 16 leave bytes alone. */
#define ROW(o)                                                                                     \
    {                                                                                              \
        0 % (o), 1 % (o), 2 % (o), 3 % (o), 4 % (o), 5 % (o), 6 % (o), 7 % (o), 8 % (o), 9 % (o),  \
            10 % (o), 11 % (o), 12 % (o), 13 % (o), 14 % (o), 15 % (o), 16 % (o), 17 % (o),        \
            18 % (o), 19 % (o), 20 % (o), 21 % (o), 22 % (o), 23 % (o), 24 % (o), 25 % (o),        \
            26 % (o), 27 % (o), 28 % (o), 29 % (o), 30 % (o), 31 % (o)                             \
    }
static const uint8_t repeat[17][32] __attribute__((aligned(32))) = {
    ROW(16), ROW(1),  ROW(2),  ROW(3),  ROW(4),  ROW(5),  ROW(6),  ROW(7), ROW(8),
    ROW(9),  ROW(10), ROW(11), ROW(12), ROW(13), ROW(14), ROW(15), ROW(16)};

static inline void store_pattern(uint8_t *dst, size_t offset)
{
    const size_t row = offset < 16 ? offset : 16;
    const __m128i have = _mm_loadu_si128((const __m128i *)(const void *)(dst - offset));
    const __m128i want = _mm_load_si128((const __m128i *)(const void *)repeat[row]);
    _mm_storeu_si128((__m128i *)(void *)dst, _mm_shuffle_epi8(have, want));
}

static inline void fill_pattern(uint8_t *dst, size_t offset, size_t length)
{
    const __m256i have =
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(dst - offset)));
    const __m256i want = _mm256_load_si256((const __m256i *)(const void *)repeat[offset]);
    const __m256i pattern = _mm256_shuffle_epi8(have, want);
    const size_t step = 32 - 32 % offset;
    for (size_t i = 0; i < length; i += step)
        _mm256_storeu_si256((__m256i *)(void *)(dst + i), pattern);
}

#define NAME(x) x##_avx2
#include "cpu/tmpl/lz4_tmpl.h"

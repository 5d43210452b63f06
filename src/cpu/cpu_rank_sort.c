/* Order of keys: digit by digit from the last on, each key with its place. */
#include "cpu/cpu_rank.h"

enum { DIGIT = 8, DIGITS = 1 << DIGIT };

/* Numbers of elements become where the first of each digit goes; false: all have the same one. */
static bool find_starts(uint32_t start[DIGITS], size_t n)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < DIGITS; i++) {
        const uint32_t count = start[i];
        if (count == n)
            return false;
        start[i] = sum;
        sum += count;
    }
    return true;
}

/* A key of K and, below it, its place of PLACE bits are one word W. */
#define DEFINE_SORT(name, K, W, PLACE)                                                             \
    static void name(uint32_t *sorted, W *a, const void *keys, size_t n)                           \
    {                                                                                              \
        const K *key = keys;                                                                       \
        uint32_t start[sizeof(K)][DIGITS] = {{0}};                                                 \
        W *b = a + n;                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            a[i] = (W)key[i] << PLACE | (W)i;                                                      \
            for (size_t d = 0; d < sizeof(K); d++)                                                 \
                start[d][key[i] >> DIGIT * d & (DIGITS - 1)]++;                                    \
        }                                                                                          \
        for (size_t d = 0; d < sizeof(K); d++) {                                                   \
            if (!find_starts(start[d], n))                                                         \
                continue;                                                                          \
            for (size_t i = 0; i < n; i++)                                                         \
                b[start[d][a[i] >> (PLACE + DIGIT * d) & (DIGITS - 1)]++] = a[i];                  \
            W *t = a;                                                                              \
            a = b;                                                                                 \
            b = t;                                                                                 \
        }                                                                                          \
        for (size_t i = 0; i < n; i++)                                                             \
            sorted[i] = (uint32_t)(a[i] & (((W)1 << PLACE) - 1));                                  \
    }

DEFINE_SORT(sort_u8, uint8_t, uint32_t, 24)
DEFINE_SORT(sort_u16, uint16_t, uint32_t, 16)
DEFINE_SORT(sort_many_u8, uint8_t, uint64_t, 32)
DEFINE_SORT(sort_many_u16, uint16_t, uint64_t, 32)
DEFINE_SORT(sort_u32, uint32_t, uint64_t, 32)

/* Keys of 64 bits are signed and stay where they are: places alone are sorted. */
static void sort_i64(uint32_t *sorted, uint32_t *a, const uint64_t *key, size_t n)
{
    const uint64_t turn = (uint64_t)1 << 63;
    uint32_t start[sizeof(*key)][DIGITS] = {{0}}, *b = a + n;
    for (size_t i = 0; i < n; i++) {
        a[i] = (uint32_t)i;
        for (size_t d = 0; d < sizeof(*key); d++)
            start[d][(key[i] ^ turn) >> DIGIT * d & (DIGITS - 1)]++;
    }
    for (size_t d = 0; d < sizeof(*key); d++) {
        if (!find_starts(start[d], n))
            continue;
        for (size_t i = 0; i < n; i++)
            b[start[d][(key[a[i]] ^ turn) >> DIGIT * d & (DIGITS - 1)]++] = a[i];
        uint32_t *t = a;
        a = b;
        b = t;
    }
    for (size_t i = 0; i < n; i++)
        sorted[i] = a[i];
}

size_t airy_rank_sort_scratch(size_t keys)
{
    return 2 * keys * sizeof(uint64_t);
}

void airy_rank_sort(uint32_t *sorted, void *scratch, const void *keys, size_t elem, size_t n)
{
    switch (elem) {
    case 1:
        if (n <= 1u << 24)
            sort_u8(sorted, scratch, keys, n);
        else
            sort_many_u8(sorted, scratch, keys, n);
        break;
    case 2:
        if (n <= 1u << 16)
            sort_u16(sorted, scratch, keys, n);
        else
            sort_many_u16(sorted, scratch, keys, n);
        break;
    case 4:
        sort_u32(sorted, scratch, keys, n);
        break;
    default:
        sort_i64(sorted, scratch, keys, n);
        break;
    }
}

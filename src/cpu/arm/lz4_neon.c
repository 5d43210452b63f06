#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

/* Row o: i mod o for i = 0 to 15; rows 0 and 16 leave bytes alone. */
#define ROW(o)                                                                                     \
    {                                                                                              \
        0 % (o), 1 % (o), 2 % (o), 3 % (o), 4 % (o), 5 % (o), 6 % (o), 7 % (o), 8 % (o), 9 % (o),  \
            10 % (o), 11 % (o), 12 % (o), 13 % (o), 14 % (o), 15 % (o)                             \
    }
static const uint8_t repeat[17][16] = {ROW(16), ROW(1),  ROW(2),  ROW(3),  ROW(4),  ROW(5),
                                       ROW(6),  ROW(7),  ROW(8),  ROW(9),  ROW(10), ROW(11),
                                       ROW(12), ROW(13), ROW(14), ROW(15), ROW(16)};

static inline uint8x16_t load_pattern(const uint8_t *dst, size_t offset)
{
    return vqtbl1q_u8(vld1q_u8(dst - offset), vld1q_u8(repeat[offset < 16 ? offset : 16]));
}

static inline void store_pattern(uint8_t *dst, size_t offset)
{
    vst1q_u8(dst, load_pattern(dst, offset));
}

static inline void fill_pattern(uint8_t *dst, size_t offset, size_t length)
{
    const uint8x16_t pattern = load_pattern(dst, offset);
    const size_t step = 16 - 16 % offset;
    for (size_t i = 0; i < length; i += step)
        vst1q_u8(dst + i, pattern);
}

#define NAME(x) x##_neon
#include "cpu/tmpl/lz4_tmpl.h"

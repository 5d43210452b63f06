#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void store_pattern(uint8_t *dst, size_t offset)
{
    if (offset >= 16) {
        memcpy(dst, dst - offset, 16);
    } else if (offset >= 8) {
        memcpy(dst, dst - offset, 8);
        memcpy(dst + 8, dst + 8 - offset, 8);
    } else {
        for (size_t i = 0; i < 16; i++)
            dst[i] = *(dst + i - offset);
    }
}

static inline void fill_pattern(uint8_t *dst, size_t offset, size_t length)
{
    /* A period of at least 8 bytes is behind dst once 16 bytes are written. */
    store_pattern(dst, offset);
    const size_t period = offset < 8 ? (7 / offset + 1) * offset : offset;
    for (size_t i = 16; i < length; i += 8)
        memcpy(dst + i, dst + i - period, 8);
}

#define NAME(x) x##_portable
#include "cpu/tmpl/lz4_tmpl.h"

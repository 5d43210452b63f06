/*
 * Source: FITS Standard 4.0 (IAU FITS Working Group, 2018), section 10.4.1; R. F. Rice, P.-S. Yeh,
 *         W. Miller, AIAA 93-4541 (1993).
 */
#include "io/image/rice_walk.h"

#include "base/size.h"

/* Bit number `at`, the highest of a byte first. */
static unsigned get_bits(const uint8_t *src, uint64_t at, unsigned count)
{
    unsigned v = 0;
    for (unsigned i = 0; i < count; i++, at++)
        v = v << 1 | (src[at / 8] >> (7 - at % 8) & 1u);
    return v;
}

/* The first set bit from *at on; false: none before end. */
static bool find_bit(const uint8_t *src, uint64_t *at, uint64_t end)
{
    while (*at < end) {
        const unsigned rest = (unsigned)src[*at / 8] << (*at % 8) & 0xffu;
        if (rest) {
            *at += (unsigned)__builtin_clz(rest) - 24;
            return *at < end;
        }
        *at = (*at / 8 + 1) * 8;
    }
    return false;
}

bool airy_rice_ends(const uint8_t *src, size_t size, size_t count, unsigned bytes, size_t block)
{
    /* Bits of a block's code, and the code of a block that is stored plainly. */
    const unsigned bits = bytes == 1   ? 3
                          : bytes == 2 ? 4
                                       : 5,
                   plain = bytes == 1   ? 6
                           : bytes == 2 ? 14
                                        : 25;
    const uint64_t end = 8 * (uint64_t)size;
    uint64_t at = 8 * (uint64_t)bytes; /* the first value */
    for (size_t done = 0; done < count; done += block) {
        const size_t n = airy_min_size(block, count - done);
        if (at + bits > end)
            return false;
        const unsigned code = get_bits(src, at, bits);
        at += bits;
        if (code == plain + 1) {
            at += (uint64_t)n * 8 * bytes;
        } else if (code > 0) { /* each value: zeros, a one, code - 1 bits */
            for (size_t i = 0; i < n; i++) {
                if (!find_bit(src, &at, end))
                    return false;
                at += code;
            }
        }
        if (at > end)
            return false;
    }
    return true;
}

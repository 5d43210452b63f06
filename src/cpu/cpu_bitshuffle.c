/*
 * The bit transpose in portable C: 8 elements at a time, an 8 x 8 bit matrix for each of their
 * bytes.
 */
#include "cpu/cpu_codec.h"

/*
 * Transpose of the 8 x 8 bits of a word, row = byte: three exchanges of 1, 2 and 4 bit squares.
 * Source: H. S. Warren, Hacker's Delight, 2nd edition (2012), section 7-3.
 */
static inline uint64_t transpose_8x8(uint64_t x)
{
    uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaull;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000cccc0000ccccull;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ull;
    return x ^ t ^ (t << 28);
}

static inline uint64_t gather(const uint8_t *p, size_t step)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < 8; i++)
        x |= (uint64_t)p[i * step] << (8 * i);
    return x;
}

static inline void scatter(uint8_t *p, size_t step, uint64_t x)
{
    for (unsigned i = 0; i < 8; i++)
        p[i * step] = (uint8_t)(x >> (8 * i));
}

static inline void unshuffle_range(uint8_t *dst, const uint8_t *src, size_t elements,
                                   size_t elem_size)
{
    const size_t row = elements / 8;
    for (size_t j = 0; j < row; j++)
        for (size_t b = 0; b < elem_size; b++)
            scatter(dst + 8 * j * elem_size + b, elem_size,
                    transpose_8x8(gather(src + 8 * b * row + j, row)));
}

static inline void shuffle_range(uint8_t *dst, const uint8_t *src, size_t elements,
                                 size_t elem_size)
{
    const size_t row = elements / 8;
    for (size_t j = 0; j < row; j++)
        for (size_t b = 0; b < elem_size; b++)
            scatter(dst + 8 * b * row + j, row,
                    transpose_8x8(gather(src + 8 * j * elem_size + b, elem_size)));
}

void airy_bitunshuffle_portable(uint8_t *dst, const uint8_t *src, size_t elements, size_t elem_size)
{
    switch (elem_size) {
    case 1:
        unshuffle_range(dst, src, elements, 1);
        break;
    case 2:
        unshuffle_range(dst, src, elements, 2);
        break;
    case 4:
        unshuffle_range(dst, src, elements, 4);
        break;
    case 8:
        unshuffle_range(dst, src, elements, 8);
        break;
    default:
        unshuffle_range(dst, src, elements, elem_size);
    }
}

void airy_bitshuffle_portable(uint8_t *dst, const uint8_t *src, size_t elements, size_t elem_size)
{
    switch (elem_size) {
    case 1:
        shuffle_range(dst, src, elements, 1);
        break;
    case 2:
        shuffle_range(dst, src, elements, 2);
        break;
    case 4:
        shuffle_range(dst, src, elements, 4);
        break;
    case 8:
        shuffle_range(dst, src, elements, 8);
        break;
    default:
        shuffle_range(dst, src, elements, elem_size);
    }
}

#include "ref_codec.h"

#include <stdlib.h>
#include <string.h>

void ref_bitshuffle(uint8_t *dst, const uint8_t *src, size_t elements, size_t elem_size)
{
    const size_t row = elements / 8;
    memset(dst, 0, elements * elem_size);
    for (size_t e = 0; e < elements; e++)
        for (size_t b = 0; b < elem_size; b++)
            for (size_t k = 0; k < 8; k++)
                if (src[e * elem_size + b] >> k & 1)
                    dst[(8 * b + k) * row + e / 8] |= (uint8_t)(1u << e % 8);
}

void ref_bitunshuffle(uint8_t *dst, const uint8_t *src, size_t elements, size_t elem_size)
{
    const size_t row = elements / 8;
    memset(dst, 0, elements * elem_size);
    for (size_t e = 0; e < elements; e++)
        for (size_t b = 0; b < elem_size; b++)
            for (size_t k = 0; k < 8; k++)
                if (src[(8 * b + k) * row + e / 8] >> e % 8 & 1)
                    dst[e * elem_size + b] |= (uint8_t)(1u << k);
}

/* The rest of a length that fills its nibble; false: the source ends. */
static bool more_length(size_t *length, const uint8_t *src, size_t size, size_t *at)
{
    for (;;) {
        if (*at >= size)
            return false;
        const uint8_t byte = src[(*at)++];
        *length += byte;
        if (byte != 255)
            return true;
    }
}

enum ref_reason ref_lz4_block(uint8_t *dst, size_t dst_size, const uint8_t *src, size_t src_size)
{
    size_t at = 0, done = 0;
    for (;;) {
        if (at >= src_size)
            return REF_TOKEN;
        const unsigned token = src[at++];
        size_t literals = token / 16, match = token % 16;
        if (literals == 15 && !more_length(&literals, src, src_size, &at))
            return REF_TOKEN;
        if (literals > src_size - at || literals > dst_size - done)
            return REF_LITERAL;
        for (size_t i = 0; i < literals; i++)
            dst[done++] = src[at++];
        if (done == dst_size)
            return at == src_size ? REF_GOOD : REF_LONG;
        if (at == src_size)
            return REF_SHORT;
        if (src_size - at < 2)
            return REF_TOKEN;
        const size_t offset = (size_t)src[at] + 256 * (size_t)src[at + 1];
        at += 2;
        if (offset == 0 || offset > done)
            return REF_OFFSET;
        if (match == 15 && !more_length(&match, src, src_size, &at))
            return REF_TOKEN;
        match += 4;
        if (match > dst_size - done)
            return REF_MATCH;
        for (size_t i = 0; i < match; i++, done++)
            dst[done] = dst[done - offset];
    }
}

static uint64_t big_endian(const uint8_t *p, size_t bytes)
{
    uint64_t v = 0;
    for (size_t i = 0; i < bytes; i++)
        v = v << 8 | p[i];
    return v;
}

bool ref_decode_chunk(uint8_t *dst, size_t size, const uint8_t *chunk, size_t chunk_size,
                      bool shuffled, size_t elem_size, uint32_t *bad)
{
    const size_t unit = shuffled ? 8 * elem_size : 1;
    *bad = UINT32_MAX;
    if (chunk_size < 12 || big_endian(chunk, 8) != size)
        return false;
    const uint64_t nominal = big_endian(chunk + 8, 4);
    if (nominal == 0 || nominal % unit)
        return false;
    size_t at = 12, done = 0;
    const size_t tail = size % unit;
    uint32_t first_bad = UINT32_MAX, number = 0;
    while (size - done > tail) {
        const size_t block = size - tail - done < nominal ? size - tail - done : (size_t)nominal;
        if (chunk_size - at < 4)
            return false;
        const size_t stored = (size_t)big_endian(chunk + at, 4);
        at += 4;
        if (stored == 0 || stored > chunk_size - at)
            return false;
        if (!shuffled && stored == block) {
            memcpy(dst + done, chunk + at, block);
        } else {
            uint8_t *bits = calloc(block, 1);
            const enum ref_reason reason = ref_lz4_block(bits, block, chunk + at, stored);
            if (reason != REF_GOOD && first_bad == UINT32_MAX)
                first_bad = number * 8 + (uint32_t)reason;
            if (shuffled)
                ref_bitunshuffle(dst + done, bits, block / elem_size, elem_size);
            else
                memcpy(dst + done, bits, block);
            free(bits);
        }
        at += stored;
        done += block;
        number++;
    }
    if (chunk_size - at != tail)
        return false;
    memcpy(dst + done, chunk + at, tail);
    *bad = first_bad;
    return first_bad == UINT32_MAX;
}

uint32_t ref_crc32(const void *data, size_t size)
{
    const uint8_t *p = data;
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/*
 * LZ4 blocks from strangers. Every length is compared with what is left of source and block before it is used; the wide copies run over
 * a length's end only where source and block both have the room.
 * Source of the format: "LZ4 Block Format Description", lz4.org.
 */
#include <stdbool.h>
#include <string.h>

#include "cpu/cpu_codec.h"
#include "shared/block_layout.h"

enum { WIDE = 32, MIN_MATCH = 4 };

/* A length that its nibble could not hold goes on in bytes, up to the first that is not 255. False: the source ends before. */
static inline bool read_length(size_t *length, const uint8_t **ip, const uint8_t *end)
{
    uint8_t byte;
    do {
        if (*ip == end)
            return false;
        byte = *(*ip)++;
        *length += byte;
    } while (byte == 255);
    return true;
}

static inline void copy_literals(uint8_t *dst, const uint8_t *src, size_t length, size_t room)
{
    if (length + WIDE > room) {
        memcpy(dst, src, length);
        return;
    }
    for (size_t i = 0; i < length; i += WIDE)
        memcpy(dst + i, src + i, WIDE);
}

/* `length` bytes from `offset` before dst, which may overlap; `room` bytes from dst on are ours. */
static inline void copy_match(uint8_t *dst, size_t offset, size_t length, size_t room)
{
    const uint8_t *src = dst - offset;
    if (offset >= WIDE && length + WIDE <= room) {
        for (size_t i = 0; i < length; i += WIDE)
            memcpy(dst + i, src + i, WIDE);
        return;
    }
    if (offset == 1) {
        memset(dst, *src, length);
        return;
    }
    /* The bytes repeat with the offset's period: copy what there is, twice as much each time. */
    size_t done = 0;
    while (done < length) {
        const size_t step = offset + done < length - done ? offset + done : length - done;
        memcpy(dst + done, src, step);
        done += step;
    }
}

uint32_t airy_lz4_block(uint8_t *dst, size_t dst_size, const uint8_t *src, size_t src_size)
{
    const uint8_t *ip = src, *const end = src + src_size;
    uint8_t *op = dst, *const stop = dst + dst_size;
    for (;;) {
        if (ip == end)
            return AIRY_REASON_TOKEN;
        const unsigned token = *ip++;
        size_t literals = token >> 4;
        if (literals == 15 && !read_length(&literals, &ip, end))
            return AIRY_REASON_TOKEN;
        if (literals > (size_t)(end - ip) || literals > (size_t)(stop - op))
            return AIRY_REASON_LITERAL;
        const size_t source_room = (size_t)(end - ip), block_room = (size_t)(stop - op);
        copy_literals(op, ip, literals, source_room < block_room ? source_room : block_room);
        ip += literals;
        op += literals;
        if (op == stop)
            return ip == end ? AIRY_STATUS_GOOD : AIRY_REASON_LONG;
        if (ip == end)
            return AIRY_REASON_SHORT;
        if (end - ip < 2)
            return AIRY_REASON_TOKEN;
        const size_t offset = (size_t)(ip[0] | ip[1] << 8);
        ip += 2;
        if (offset == 0 || offset > (size_t)(op - dst))
            return AIRY_REASON_OFFSET;
        size_t length = token & 15;
        if (length == 15 && !read_length(&length, &ip, end))
            return AIRY_REASON_TOKEN;
        length += MIN_MATCH;
        if (length > (size_t)(stop - op))
            return AIRY_REASON_MATCH;
        copy_match(op, offset, length, (size_t)(stop - op));
        op += length;
    }
}

/*
 * LZ4 blocks from strangers, for the instruction set of the file that includes this. Every length
 * is compared with what is left of source and block before it is used; wide copies run over a
 * length's end only where source and block both have the room.
 *
 * That file defines NAME(x) and
 *   store_pattern(dst, offset)         16 bytes from dst on, each equal to the one `offset` (at
 *   least 1) before it fill_pattern(dst, offset, length)  the same for `length` bytes and up to 31
 *   more; offset below 16
 *
 * Source of the format: "LZ4 Block Format Description", lz4.org.
 */
#include <stdbool.h>
#include <string.h>

#include "cpu/cpu_codec.h"
#include "shared/block_layout.h"

enum {
    WIDE = 32,
    MIN_MATCH = 4,
    ROOM = 64,      /* where source and block both have it, short sequences need no further check */
    LONG_MATCH = 96 /* from here on it pays to ask whether the match is one repeated byte: the
                       zero upper bit planes */
};

/*
 * A length that its nibble could not hold goes on in bytes, up to the first that is not 255.
 * False: the source ends before.
 */
static inline bool read_length(size_t *length, const uint8_t **ip, const uint8_t *end)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    while (end - *ip >= 8) {
        uint64_t word;
        memcpy(&word, *ip, sizeof(word));
        if (word != ~0ull) {
            const unsigned full = (unsigned)__builtin_ctzll(~word) / 8;
            *length += 255 * full + (word >> (8 * full) & 255);
            *ip += full + 1;
            return true;
        }
        *length += 8 * 255;
        *ip += 8;
    }
#endif
    uint8_t byte;
    do {
        if (*ip == end)
            return false;
        byte = *(*ip)++;
        *length += byte;
    } while (byte == 255);
    return true;
}

/* Neither more than the source has nor than the block takes: `room`. */
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
    if (length >= LONG_MATCH && offset < length && memcmp(src, src + 1, offset - 1) == 0) {
        memset(dst, *src, length);
        return;
    }
    size_t done = 0;
    if (length + WIDE <= room) {
        if (offset >= WIDE) {
            for (; done < length; done += WIDE)
                memcpy(dst + done, src + done, WIDE);
            return;
        }
        if (offset < 16) {
            fill_pattern(dst, offset, length);
            return;
        }
        for (; done < length; done += 16)
            memcpy(dst + done, src + done, 16);
        return;
    }
    /*
     * At the block's end. The bytes repeat with the offset's period: copy what there is, twice as
     * much each time.
     */
    while (done < length) {
        const size_t step = offset + done < length - done ? offset + done : length - done;
        memcpy(dst + done, src, step);
        done += step;
    }
}

/*
 * Whether a match of `length` bytes and what follows it are the end of a block in zeros, as
 * encoders write it: the match, then five zeros as they are.
 */
static inline bool ends_in_zeros(const uint8_t *dst, size_t offset, size_t length, size_t room,
                                 const uint8_t *ip, const uint8_t *end)
{
    static const uint8_t last[6] = {0x50, 0, 0, 0, 0, 0};
    const uint8_t *src = dst - offset;
    return length + 5 == room && end - ip == sizeof(last) && memcmp(ip, last, sizeof(last)) == 0 &&
           offset < length && *src == 0 && memcmp(src, src + 1, offset - 1) == 0;
}

/* filled: NULL, or where the zeros begin that end the block and are not written. */
static inline __attribute__((always_inline)) uint32_t
decode_block(uint8_t *dst, size_t dst_size, const uint8_t *src, size_t src_size, size_t *filled)
{
    const uint8_t *ip = src, *const end = src + src_size;
    uint8_t *op = dst, *const stop = dst + dst_size;
    for (;;) {
        if (ip == end)
            return AIRY_REASON_TOKEN;
        const unsigned token = *ip++;
        size_t literals = token >> 4;
        if (literals < 15 && end - ip >= ROOM && stop - op >= ROOM) {
            memcpy(op, ip, 16);
            ip += literals;
            op += literals;
        } else {
            if (literals == 15 && !read_length(&literals, &ip, end))
                return AIRY_REASON_TOKEN;
            const size_t source_room = (size_t)(end - ip), block_room = (size_t)(stop - op);
            if (literals > source_room || literals > block_room)
                return AIRY_REASON_LITERAL;
            copy_literals(op, ip, literals, source_room < block_room ? source_room : block_room);
            ip += literals;
            op += literals;
            if (op == stop) {
                if (filled)
                    *filled = dst_size;
                return ip == end ? AIRY_STATUS_GOOD : AIRY_REASON_LONG;
            }
            if (ip == end)
                return AIRY_REASON_SHORT;
            if (end - ip < 2)
                return AIRY_REASON_TOKEN;
        }
        const size_t offset = (size_t)(ip[0] | ip[1] << 8);
        ip += 2;
        if (offset == 0 || offset > (size_t)(op - dst))
            return AIRY_REASON_OFFSET;
        size_t length = (token & 15) + MIN_MATCH;
        if (length < 15 + MIN_MATCH && stop - op >= WIDE) {
            store_pattern(op, offset);
            if (length > 16) {
                op[16] = *(op + 16 - offset);
                op[17] = *(op + 17 - offset);
            }
        } else {
            if (length == 15 + MIN_MATCH && !read_length(&length, &ip, end))
                return AIRY_REASON_TOKEN;
            if (length > (size_t)(stop - op))
                return AIRY_REASON_MATCH;
            if (filled && length >= LONG_MATCH &&
                ends_in_zeros(op, offset, length, (size_t)(stop - op), ip, end)) {
                *filled = (size_t)(op - dst);
                return AIRY_STATUS_GOOD;
            }
            copy_match(op, offset, length, (size_t)(stop - op));
        }
        op += length;
    }
}

uint32_t NAME(airy_lz4_block)(uint8_t *dst, size_t dst_size, const uint8_t *src, size_t src_size)
{
    return decode_block(dst, dst_size, src, src_size, NULL);
}

uint32_t NAME(airy_lz4_front)(uint8_t *dst, size_t dst_size, const uint8_t *src, size_t src_size,
                              size_t *filled)
{
    return decode_block(dst, dst_size, src, src_size, filled);
}

/*
 * Byte-offset compression of CBF: each value is the one before it plus a difference of 1 byte; where
 * that is -128 a difference of 2 bytes follows, where that is -2^15 one of 4, where that is -2^31
 * one of 8, all little-endian.
 * Source: International Tables for Crystallography G (2005), section 5.6.3.1.
 */
#ifndef AIRY_CODEC_BYTE_OFFSET_H
#define AIRY_CODEC_BYTE_OFFSET_H

#include <stddef.h>
#include <stdint.h>

#include "airy/dtype.h"
#include "airy/status.h"

enum { BYTE_OFFSET_WORST = 15 }; /* bytes a value can take: all four forms */

/*
 * count values of an integer dtype of at most 4 bytes from all of src. AIRY_ERR_CORRUPT where src
 * ends too early, has bytes left, or a value leaves its type.
 */
airy_status airy_byte_offset_decode(void *dst, airy_dtype dtype, size_t count, const uint8_t *src,
                                    size_t size);
/*
 * The same piece by piece. more: *used are the bytes that were decoded; of the rest, at most
 * BYTE_OFFSET_WORST - 1 bytes of a difference that is not all there unless all values are, the next
 * piece begins. end: left bytes were not decoded.
 */
struct airy_byte_offset {
    void *dst;
    airy_dtype dtype;
    size_t count, done; /* values */
    int64_t value, least, most;
};
void airy_byte_offset_begin(struct airy_byte_offset *walk, void *dst, airy_dtype dtype,
                            size_t count);
airy_status airy_byte_offset_more(struct airy_byte_offset *walk, const uint8_t *src, size_t size,
                                  size_t *used);
airy_status airy_byte_offset_end(const struct airy_byte_offset *walk, size_t left);
/* Into dst, which holds BYTE_OFFSET_WORST * count bytes; returns the bytes used. */
size_t airy_byte_offset_encode(uint8_t *dst, const void *src, airy_dtype dtype, size_t count);

#endif

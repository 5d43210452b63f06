/*
 * The definitions of the codecs as plain loops: one bit, one byte at a time.
 * Sources: LZ4 Block Format Description (lz4.org); the public format notes of HDF5 filters 32004
 *          and 32008.
 */
#ifndef AIRY_TESTS_REF_CODEC_H
#define AIRY_TESTS_REF_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bit k of byte b of element 8 j + i, to bit i of byte j of row 8 b + k, and back; elements: a
 * multiple of 8.
 */
void ref_bitshuffle(uint8_t *dst, const uint8_t *src, size_t elements, size_t elem_size);
void ref_bitunshuffle(uint8_t *dst, const uint8_t *src, size_t elements, size_t elem_size);

enum ref_reason {
    REF_TOKEN = 1,
    REF_LITERAL = 2,
    REF_OFFSET = 3,
    REF_MATCH = 4,
    REF_SHORT = 5,
    REF_LONG = 6,
    REF_GOOD = 8
};
/* One LZ4 block to exactly dst_size bytes. */
enum ref_reason ref_lz4_block(uint8_t *dst, size_t dst_size, const uint8_t *src, size_t src_size);

/* One chunk of filter 32008 (shuffled) or 32004 to exactly size bytes; false: refused. *bad: block
 * * 8 + reason where a block is bad, UINT32_MAX where the framing is. */
bool ref_decode_chunk(uint8_t *dst, size_t size, const uint8_t *chunk, size_t chunk_size,
                      bool shuffled, size_t elem_size, uint32_t *bad);

/* CRC-32 as in zlib (IEEE 802.3, reflected polynomial 0xedb88320). */
uint32_t ref_crc32(const void *data, size_t size);

#endif

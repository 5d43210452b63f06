/*
 * Blocks of bitshuffle-Zstandard: one or more Zstandard frames that give exactly the bytes of a
 * block.
 * Source: RFC 8878, decoded by libzstd.
 */
#ifndef AIRY_CODEC_ZSTD_BLOCK_H
#define AIRY_CODEC_ZSTD_BLOCK_H

#include "airy/status.h"

#include <stddef.h>
#include <stdint.h>

/* A decoder for one thread. AIRY_ERR_UNSUPPORTED in a build without libzstd, AIRY_ERR_MEMORY. */
struct airy_zstd;
airy_status airy_zstd_create(struct airy_zstd **zstd);
void airy_zstd_destroy(struct airy_zstd *zstd);
/*
 * Exactly dst_size bytes, or AIRY_ERR_CORRUPT with libzstd's reason and without the block's number.
 * Nothing is written behind dst, and no memory is taken for what a frame's header says: a frame
 * that says more bytes than the block has is refused before it is decoded.
 */
airy_status airy_zstd_block(struct airy_zstd *zstd, uint8_t *dst, size_t dst_size,
                            const uint8_t *src, size_t src_size);

#endif

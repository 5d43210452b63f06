/* Walking a chunk's framing, one block at a time, without trusting any of its numbers. */
#ifndef AIRY_CODEC_FRAMING_H
#define AIRY_CODEC_FRAMING_H

#include <stdbool.h>

#include "codec/chunks.h"

enum { AIRY_CHUNK_HEADER_BYTES = 12, AIRY_CHUNK_LENGTH_BYTES = 4 };

struct airy_chunk_cursor {
    const uint8_t *bytes;
    size_t size, position; /* position <= size always */
    uint32_t block;        /* the next one */
    size_t block_at;       /* of the block just found: its place in the chunk, its bytes there */
    uint32_t block_size;
    bool block_stored; /* as decoded pixels */
};

/* A chunk has a header, and each block its length in front of it. */
static inline bool airy_codec_is_framed(airy_codec codec)
{
    return codec == AIRY_CODEC_BSLZ4 || codec == AIRY_CODEC_LZ4 || codec == AIRY_CODEC_BSZSTD;
}

/* What block_bytes = 0 means. */
uint32_t airy_default_block_bytes(airy_codec codec, uint32_t elem_size);

/*
 * Read the header and make the layout the chunk really has (params->block_bytes counts only where
 * the format has no header). AIRY_ERR_PARAM for params that make no layout, AIRY_ERR_CORRUPT where
 * the chunk does not decode to frame_bytes.
 */
airy_status airy_chunk_open(struct airy_chunk_cursor *cursor, airy_block_layout *layout,
                            const void *chunk, size_t size, size_t frame_bytes,
                            const airy_codec_params *params);
/*
 * The next block's place and size, inside the chunk; call layout->blocks times at most. After the
 * last one nothing may be left over. AIRY_ERR_CORRUPT with the block's number.
 */
airy_status airy_chunk_next(struct airy_chunk_cursor *cursor, const airy_block_layout *layout);

/*
 * airy_chunk_walk in steps, while the chunk's bytes arrive: begin needs the header
 * (AIRY_CHUNK_HEADER_BYTES or the whole chunk), each step looks at the first `have` bytes, and the
 * last step at all of them.
 */
struct airy_chunk_walk {
    struct airy_chunk_cursor cursor;
    airy_block_layout own; /* the chunk's */
    airy_block *table;
    uint32_t base, wanted; /* wanted: block bytes of the batch */
    bool same;             /* the chunk has those */
};
airy_status airy_chunk_walk_begin(struct airy_chunk_walk *walk, airy_block *table,
                                  const airy_block_layout *layout, const void *chunk, size_t size,
                                  uint32_t base);
airy_status airy_chunk_walk_on(struct airy_chunk_walk *walk, size_t have);

static inline uint32_t airy_load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void airy_store_be32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

#endif

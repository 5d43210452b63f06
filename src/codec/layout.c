#include "codec/chunks.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "base/word.h"
#include "codec/framing.h"

static const char *const codec_names[AIRY_CODEC_COUNT] = {[AIRY_CODEC_NONE] = "none",
                                                          [AIRY_CODEC_BSLZ4] = "bslz4",
                                                          [AIRY_CODEC_LZ4] = "lz4",
                                                          [AIRY_CODEC_BSHUF] = "bshuf",
                                                          [AIRY_CODEC_BSZSTD] = "bszstd"};

enum {
    DEFAULT_BLOCK_BYTES = 8192,        /* of the bitshuffle filter */
    MIN_DEFAULT_ELEMENTS = 128,        /* likewise */
    DEFAULT_LZ4_BLOCK_BYTES = 1 << 30, /* of the LZ4 filter */
    MAX_BLOCK_BYTES = 0x7e000000,      /* what an LZ4 block can hold; below AIRY_BLOCK_STORED */
    MAX_BLOCKS = 1 << 29               /* a frame's status has 29 bits for the block's number */
};

const char *airy_codec_name(airy_codec codec)
{
    return (unsigned)codec < AIRY_CODEC_COUNT ? codec_names[codec] : "unknown";
}

airy_status airy_codec_parse(airy_codec *codec, const char *name)
{
    AIRY_FAIL_IF(!codec, AIRY_ERR_PARAM, "airy_codec_parse: codec is NULL");
    AIRY_FAIL_IF(!name, AIRY_ERR_PARAM,
                 "codec name = NULL, expected none, bslz4, lz4, bshuf or bszstd");
    int i = 0;
    AIRY_TRY(airy_find_word(&i, "codec", name, codec_names, AIRY_CODEC_COUNT));
    *codec = (airy_codec)i;
    return AIRY_OK;
}

uint32_t airy_default_block_bytes(airy_codec codec, uint32_t elem_size)
{
    if (codec == AIRY_CODEC_LZ4)
        return DEFAULT_LZ4_BLOCK_BYTES;
    uint32_t elements = DEFAULT_BLOCK_BYTES / elem_size / 8 * 8;
    if (elements < MIN_DEFAULT_ELEMENTS)
        elements = MIN_DEFAULT_ELEMENTS;
    return elements * elem_size;
}

airy_status airy_block_layout_make(airy_block_layout *layout, size_t frame_bytes,
                                   const airy_codec_params *params)
{
    const airy_codec codec = params->codec;
    AIRY_FAIL_ON_IF((unsigned)codec >= AIRY_CODEC_COUNT, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d, expected 0 to %d", "codec", (int)codec, AIRY_CODEC_COUNT - 1);
    const bool shuffled = codec == AIRY_CODEC_BSLZ4 || codec == AIRY_CODEC_BSZSTD ||
                          codec == AIRY_CODEC_BSHUF;
    const uint32_t elem_size = params->elem_size ? params->elem_size : 1;
    AIRY_FAIL_IF(elem_size > AIRY_MAX_ELEM_SIZE, AIRY_ERR_PARAM,
                 "element size = %u bytes, expected at most %d", elem_size, AIRY_MAX_ELEM_SIZE);
    AIRY_FAIL_ON_IF(shuffled && frame_bytes % elem_size, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu bytes, expected a multiple of the element size %u", "size",
                    frame_bytes, elem_size);
    uint32_t block_bytes = params->block_bytes ? params->block_bytes
                                               : airy_default_block_bytes(codec, elem_size);
    const uint32_t unit = shuffled ? 8 * elem_size : 1;
    AIRY_FAIL_IF(block_bytes % unit, AIRY_ERR_PARAM,
                 "block size = %u bytes, expected a multiple of %u (8 elements)", block_bytes,
                 unit);

    const uint64_t tail = frame_bytes % unit;
    const uint64_t coded = frame_bytes - tail;
    /*
     * One canonical form for all block sizes that hold the whole frame; it also bounds what
     * decoders need as scratch.
     */
    if (block_bytes > coded)
        block_bytes = coded ? (uint32_t)coded : unit;
    AIRY_FAIL_IF(block_bytes > MAX_BLOCK_BYTES, AIRY_ERR_PARAM,
                 "block size = %u bytes, expected at most %u", block_bytes,
                 (unsigned)MAX_BLOCK_BYTES);
    const uint64_t full = coded / block_bytes;
    const uint64_t blocks = full + (coded % block_bytes != 0) + (tail != 0);
    AIRY_FAIL_IF(
        blocks >= MAX_BLOCKS, AIRY_ERR_PARAM,
        "a frame of %zu bytes in blocks of %u bytes has %llu blocks, expected fewer than %d",
        frame_bytes, block_bytes, (unsigned long long)blocks, MAX_BLOCKS);
    *layout = (airy_block_layout){.frame_bytes = frame_bytes,
                                  .codec = (uint32_t)codec,
                                  .elem_size = elem_size,
                                  .block_bytes = block_bytes,
                                  .full_blocks = (uint32_t)full,
                                  .last_bytes = (uint32_t)(coded % block_bytes),
                                  .tail_bytes = (uint32_t)tail,
                                  .blocks = (uint32_t)blocks};
    return AIRY_OK;
}

airy_status airy_chunk_header(uint64_t *decoded, uint32_t *block_bytes, const void *chunk,
                              size_t size, airy_codec codec, uint32_t elem_size)
{
    AIRY_FAIL_IF(size < AIRY_CHUNK_HEADER_BYTES, AIRY_ERR_CORRUPT,
                 "chunk has %zu bytes, fewer than the %d of its header", size,
                 AIRY_CHUNK_HEADER_BYTES);
    AIRY_FAIL_IF(elem_size == 0 || elem_size > AIRY_MAX_ELEM_SIZE, AIRY_ERR_PARAM,
                 "element size = %u bytes, expected 1 to %d", elem_size, AIRY_MAX_ELEM_SIZE);
    const uint8_t *bytes = chunk;
    const uint64_t total = (uint64_t)airy_load_be32(bytes) << 32 | airy_load_be32(bytes + 4);
    const uint32_t block = airy_load_be32(bytes + 8);
    const uint32_t unit = codec == AIRY_CODEC_BSLZ4 || codec == AIRY_CODEC_BSZSTD ? 8 * elem_size
                                                                                  : 1;
    AIRY_FAIL_IF(block == 0 || block % unit, AIRY_ERR_CORRUPT,
                 "chunk header: block size = %u bytes, expected a positive multiple of %u", block,
                 unit);
    *decoded = total;
    *block_bytes = block;
    return AIRY_OK;
}

airy_status airy_chunk_open(struct airy_chunk_cursor *cursor, airy_block_layout *layout,
                            const void *chunk, size_t size, size_t frame_bytes,
                            const airy_codec_params *params)
{
    airy_codec_params actual = *params;
    *layout = (airy_block_layout){0};
    actual.elem_size = params->elem_size ? params->elem_size : 1;
    const bool framed = airy_codec_is_framed(params->codec);
    if (framed) {
        uint64_t decoded = 0;
        /* the caller's mistakes before the chunk's */
        AIRY_TRY(airy_block_layout_make(layout, frame_bytes, params));
        AIRY_TRY(airy_chunk_header(&decoded, &actual.block_bytes, chunk, size, actual.codec,
                                   actual.elem_size));
        AIRY_FAIL_IF(decoded != frame_bytes, AIRY_ERR_CORRUPT,
                     "chunk header: %llu bytes decoded, expected %zu", (unsigned long long)decoded,
                     frame_bytes);
    }
    const airy_status made = airy_block_layout_make(layout, frame_bytes, &actual);
    if (made != AIRY_OK)
        return framed ? airy_fail_context(AIRY_ERR_CORRUPT, "chunk header") : made;
    AIRY_FAIL_IF(framed && layout->blocks == 0 && size != AIRY_CHUNK_HEADER_BYTES, AIRY_ERR_CORRUPT,
                 "%zu bytes left behind the header of an empty chunk",
                 size - AIRY_CHUNK_HEADER_BYTES);
    AIRY_FAIL_IF(!framed && size != frame_bytes, AIRY_ERR_CORRUPT,
                 "chunk has %zu bytes, expected %zu", size, frame_bytes);
    *cursor = (struct airy_chunk_cursor){
        .bytes = chunk, .size = size, .position = framed ? AIRY_CHUNK_HEADER_BYTES : 0};
    return AIRY_OK;
}

airy_status airy_chunk_next(struct airy_chunk_cursor *cursor, const airy_block_layout *layout)
{
    const uint32_t b = cursor->block;
    const uint32_t decoded = airy_block_decoded_bytes(*layout, b);
    const size_t left = cursor->size - cursor->position;
    uint32_t size = decoded;
    bool stored = true;
    if (airy_codec_is_framed((airy_codec)layout->codec) && airy_block_is_coded(*layout, b)) {
        AIRY_FAIL_IF(left < 4, AIRY_ERR_CORRUPT, "block %u of %u: the chunk ends inside its length",
                     b, layout->blocks);
        size = airy_load_be32(cursor->bytes + cursor->position);
        cursor->position += 4;
        AIRY_FAIL_IF(size == 0 || size > left - 4 || size >= AIRY_BLOCK_STORED, AIRY_ERR_CORRUPT,
                     "block %u of %u: compressed size = %u, expected 1 to %zu", b, layout->blocks,
                     size, left - 4);
        stored = layout->codec == AIRY_CODEC_LZ4 && size == decoded;
    } else {
        AIRY_FAIL_IF(size > left, AIRY_ERR_CORRUPT, "block %u of %u: %zu bytes left, expected %u",
                     b, layout->blocks, left, size);
        stored = layout->codec == AIRY_CODEC_NONE || !airy_block_is_coded(*layout, b);
    }
    cursor->block_at = cursor->position;
    cursor->block_size = size;
    cursor->block_stored = stored;
    cursor->position += size;
    cursor->block++;
    AIRY_FAIL_IF(cursor->block == layout->blocks && cursor->position != cursor->size,
                 AIRY_ERR_CORRUPT, "%zu bytes left behind the last block %u",
                 cursor->size - cursor->position, b);
    return AIRY_OK;
}

/* The table's entries of the blocks whose lengths are among the first `have` bytes. */
static airy_status walk_on(struct airy_chunk_walk *walk, size_t have)
{
    struct airy_chunk_cursor *cursor = &walk->cursor;
    while (cursor->block < walk->own.blocks &&
           (have == cursor->size || cursor->position + 4 <= have)) {
        const uint32_t b = cursor->block;
        AIRY_TRY(airy_chunk_next(cursor, &walk->own));
        if (walk->same)
            walk->table[b] = (airy_block){.offset = walk->base + (uint32_t)cursor->block_at,
                                          .size = cursor->block_size |
                                                  (cursor->block_stored ? AIRY_BLOCK_STORED : 0)};
    }
    return AIRY_OK;
}

airy_status airy_chunk_walk_begin(struct airy_chunk_walk *walk, airy_block *table,
                                  const airy_block_layout *layout, const void *chunk, size_t size,
                                  uint32_t base)
{
    const airy_codec_params params = {.codec = (airy_codec)layout->codec,
                                      .elem_size = layout->elem_size,
                                      .block_bytes = layout->block_bytes};
    *walk = (struct airy_chunk_walk){.table = table, .base = base, .wanted = layout->block_bytes};
    AIRY_TRY(airy_chunk_open(&walk->cursor, &walk->own, chunk, size, (size_t)layout->frame_bytes,
                             &params));
    AIRY_FAIL_IF(size > UINT32_MAX - base, AIRY_ERR_PARAM,
                 "chunk of %zu bytes at offset %u does not end below 4 GiB", size, base);
    walk->same = walk->own.block_bytes == layout->block_bytes;
    return AIRY_OK;
}

airy_status airy_chunk_walk_on(struct airy_chunk_walk *walk, size_t have)
{
    AIRY_TRY(walk_on(walk, have));
    /* Not a failure of the chunk, so not through AIRY_FAIL_IF: the caller has another way. */
    if (have == walk->cursor.size && !walk->same)
        return airy_fail(AIRY_ERR_UNSUPPORTED,
                         "chunk is cut into blocks of %u bytes, the batch into %u",
                         walk->own.block_bytes, walk->wanted);
    return AIRY_OK;
}

airy_status airy_chunk_walk(airy_block *table, const airy_block_layout *layout, const void *chunk,
                            size_t size, uint32_t base)
{
    struct airy_chunk_walk walk;
    AIRY_TRY(airy_chunk_walk_begin(&walk, table, layout, chunk, size, base));
    return airy_chunk_walk_on(&walk, size);
}

const char *airy_frame_error(uint32_t status)
{
    static _Thread_local char text[96];
    static const char *const reasons[8] = {
        [AIRY_REASON_ABSENT] = "not read",
        [AIRY_REASON_TOKEN] = "compressed bytes end inside a sequence",
        [AIRY_REASON_LITERAL] = "literals leave the compressed bytes or the block",
        [AIRY_REASON_OFFSET] = "match offset is 0 or before the start of the block",
        [AIRY_REASON_MATCH] = "match leaves the block",
        [AIRY_REASON_SHORT] = "compressed bytes end before the block is full",
        [AIRY_REASON_LONG] = "compressed bytes left over behind the full block",
        [AIRY_REASON_SIZE] = "stored bytes do not fill the block exactly"};
    if (status == AIRY_FRAME_GOOD)
        return "good";
    if ((status & 7u) == AIRY_REASON_ABSENT)
        return "frame was not read";
    snprintf(text, sizeof(text), "block %u: %s", status >> 3, reasons[status & 7u]);
    return text;
}

#include "base/error.h"
#include "base/memory.h"
#include "codec/framing.h"
#include "codec/zstd_block.h"

struct decoder {
    airy_block_layout layout;
    struct airy_chunk_cursor cursor; /* at the block to decode */
    void *scratch;                   /* one block; NULL where none is needed */
    struct airy_zstd *zstd;          /* of bszstd */
};

static airy_status decode_zstd(struct decoder *d, uint8_t *dst, uint32_t block)
{
    const uint32_t size = airy_block_decoded_bytes(d->layout, block), element = d->layout.elem_size;
    const airy_status status = airy_zstd_block(
        d->zstd, d->scratch, size, d->cursor.bytes + d->cursor.block_at, d->cursor.block_size);
    if (status != AIRY_OK)
        return airy_fail_context(status, "block %u", block);
    airy_block_fns()->unshuffle(dst, d->scratch, size / element, element);
    return AIRY_OK;
}

static airy_status decode_block(struct decoder *d, uint8_t *dst, uint32_t block)
{
    const struct airy_chunk_cursor *cursor = &d->cursor;
    if (d->zstd && !cursor->block_stored)
        return decode_zstd(d, dst, block);
    const airy_block place = {
        .offset = 0, .size = cursor->block_size | (cursor->block_stored ? AIRY_BLOCK_STORED : 0)};
    const uint32_t reason = airy_block_decode(dst, &d->layout, block, place,
                                              cursor->bytes + cursor->block_at, d->scratch);
    AIRY_FAIL_IF(reason != AIRY_STATUS_GOOD, AIRY_ERR_CORRUPT, "%s",
                 airy_frame_error(block * 8 + reason));
    return AIRY_OK;
}

airy_status airy_decode(void *dst, size_t size, const void *chunk, size_t chunk_size,
                        const airy_codec_params *params)
{
    static const airy_codec_params defaults = {0};
    params = params ? params : &defaults;
    AIRY_FAIL_ON_IF(!dst && size, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s = NULL for %zu bytes",
                    "dst", size);
    AIRY_FAIL_ON_IF(!chunk && chunk_size, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = NULL for %zu bytes", "chunk", chunk_size);
    struct decoder d = {0};
    AIRY_TRY(airy_chunk_open(&d.cursor, &d.layout, chunk, chunk_size, size, params));
    airy_status status = AIRY_OK;
    if (d.layout.codec == AIRY_CODEC_BSZSTD)
        AIRY_TRY(airy_zstd_create(&d.zstd));
    if (d.layout.codec == AIRY_CODEC_BSLZ4 || d.zstd)
        AIRY_TRY_OR(out, airy_memory_alloc(&d.scratch, d.layout.block_bytes));
    while (d.cursor.block < d.layout.blocks) {
        const uint32_t b = d.cursor.block;
        AIRY_TRY_OR(out, airy_chunk_next(&d.cursor, &d.layout));
        AIRY_TRY_OR(out, decode_block(&d, (uint8_t *)dst + airy_block_start(d.layout, b), b));
    }
out:
    airy_memory_release(d.scratch);
    if (d.zstd)
        airy_zstd_destroy(d.zstd);
    return status;
}

#include "base/error.h"
#include "base/memory.h"
#include "codec/framing.h"

airy_status airy_decode(void *dst, size_t size, const void *chunk, size_t chunk_size,
                        const airy_codec_params *params)
{
    static const airy_codec_params defaults = {0};
    params = params ? params : &defaults;
    AIRY_FAIL_IF(!dst && size, AIRY_ERR_PARAM, "dst = NULL for %zu bytes", size);
    AIRY_FAIL_IF(!chunk && chunk_size, AIRY_ERR_PARAM, "chunk = NULL for %zu bytes", chunk_size);
    airy_block_layout layout = {0};
    struct airy_chunk_cursor cursor = {0};
    AIRY_TRY(airy_chunk_open(&cursor, &layout, chunk, chunk_size, size, params));
    void *scratch = NULL;
    if (layout.codec == AIRY_CODEC_BSLZ4)
        AIRY_TRY(airy_memory_alloc(&scratch, layout.block_bytes));
    airy_status status = AIRY_OK;
    while (cursor.block < layout.blocks) {
        const uint32_t b = cursor.block;
        AIRY_TRY_OR(out, airy_chunk_next(&cursor, &layout));
        const airy_block place = {
            .offset = 0, .size = cursor.block_size | (cursor.block_stored ? AIRY_BLOCK_STORED : 0)};
        const uint32_t reason = airy_block_decode((uint8_t *)dst + airy_block_start(layout, b),
                                                  &layout, b, place, cursor.bytes + cursor.block_at,
                                                  scratch);
        if (reason != AIRY_STATUS_GOOD) {
            status = airy_fail(AIRY_ERR_CORRUPT, "%s", airy_frame_error(b * 8 + reason));
            goto out;
        }
    }
out:
    airy_memory_release(scratch);
    return status;
}

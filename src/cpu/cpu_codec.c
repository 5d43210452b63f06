#include "cpu/cpu_codec.h"

#include <stdatomic.h>
#include <string.h>

#include "base/cpu.h"
#include "codec/chunks.h"

static const struct airy_block_fns portable = {.lz4 = airy_lz4_block,
                                               .unshuffle = airy_bitunshuffle_portable,
                                               .shuffle = airy_bitshuffle_portable,
                                               .name = "portable"};

const struct airy_block_fns *airy_block_fns(void)
{
    return &portable;
}

uint32_t airy_block_decode(uint8_t *dst, const airy_block_layout *layout, uint32_t block, airy_block place,
                           const uint8_t *bytes, uint8_t *scratch)
{
    const uint32_t decoded = airy_block_decoded_bytes(*layout, block);
    const uint8_t *src = bytes + place.offset;
    if (place.size == AIRY_BLOCK_ABSENT)
        return AIRY_REASON_ABSENT;
    if (place.size & AIRY_BLOCK_STORED) {
        if ((place.size & ~AIRY_BLOCK_STORED) != decoded)
            return AIRY_REASON_SIZE;
        memcpy(dst, src, decoded);
        return AIRY_STATUS_GOOD;
    }
    const struct airy_block_fns *fns = airy_block_fns();
    if (layout->codec == AIRY_CODEC_LZ4)
        return fns->lz4(dst, decoded, src, place.size);
    if (layout->codec == AIRY_CODEC_BSLZ4) {
        const uint32_t reason = fns->lz4(scratch, decoded, src, place.size);
        if (reason != AIRY_STATUS_GOOD)
            return reason;
        src = scratch;
    } else if (place.size != decoded) {
        return AIRY_REASON_SIZE;
    }
    fns->unshuffle(dst, src, decoded / layout->elem_size, layout->elem_size);
    return AIRY_STATUS_GOOD;
}

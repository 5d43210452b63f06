/* Decoding blocks on the host, with the decoders of the CPU back end. */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "codec/codec_fns.h"
#include "core/backend.h"

const struct airy_block_fns *airy_block_fns(void)
{
    static _Atomic(const struct airy_block_fns *) cached; /* read once a block */
    const struct airy_block_fns *fns = atomic_load_explicit(&cached, memory_order_relaxed);
    if (!fns) {
        fns = airy_backend_host()->codec->blocks();
        atomic_store_explicit(&cached, fns, memory_order_relaxed);
    }
    return fns;
}

/*
 * Return whether a block is zeros as LZ4 always writes them: a zero, a match of offset 1, five
 * zeros. Such a block needs neither decoder nor transpose.
 */
static bool is_all_zero(const uint8_t *src, size_t size, size_t decoded)
{
    static const uint8_t head[4] = {0x1f, 0, 1, 0}, tail[6] = {0x50, 0, 0, 0, 0, 0};
    if (size < sizeof(head) + 1 + sizeof(tail) || memcmp(src, head, sizeof(head)) != 0)
        return false;
    const size_t end = size - sizeof(tail);
    size_t length = 15 + 4, at = sizeof(head);
    while (at + 1 < end && src[at] == 255) {
        length += 255;
        at++;
    }
    return at + 1 == end && src[at] != 255 && 1 + length + src[at] + 5 == decoded &&
           memcmp(src + end, tail, sizeof(tail)) == 0;
}

uint32_t airy_block_decode(uint8_t *dst, const airy_block_layout *layout, uint32_t block,
                           airy_block place, const uint8_t *bytes, uint8_t *scratch)
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
        if (is_all_zero(src, place.size, decoded)) {
            memset(dst, 0, decoded);
            return AIRY_STATUS_GOOD;
        }
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

#include "cpu/cpu_codec.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/cpu.h"
#include "codec/chunks.h"

/* The newest set the machine has is the last that applies. */
static const struct {
    unsigned flag;
    struct airy_block_fns fns;
} sets[] = {
    {0,
     {airy_lz4_block_portable, airy_lz4_front_portable, airy_bitunshuffle_portable,
      airy_bitshuffle_portable, "portable"}},
#if defined(__x86_64__)
    {AIRY_CPU_SSE2,
     {airy_lz4_block_portable, airy_lz4_front_portable, airy_bitunshuffle_sse2,
      airy_bitshuffle_sse2, "sse2"}},
    {AIRY_CPU_AVX2,
     {airy_lz4_block_avx2, airy_lz4_front_avx2, airy_bitunshuffle_avx2, airy_bitshuffle_avx2,
      "avx2"}},
    {AIRY_CPU_AVX512,
     {airy_lz4_block_avx2, airy_lz4_front_avx2, airy_bitunshuffle_avx512, airy_bitshuffle_avx512,
      "avx512"}},
    {AIRY_CPU_VBMI,
     {airy_lz4_block_avx2, airy_lz4_front_avx2, airy_bitunshuffle_vbmi, airy_bitshuffle_vbmi,
      "vbmi"}},
#elif defined(__aarch64__)
    {AIRY_CPU_NEON,
     {airy_lz4_block_neon, airy_lz4_front_neon, airy_bitunshuffle_neon, airy_bitshuffle_neon,
      "neon"}},
#endif
};

const struct airy_block_fns *airy_block_fns(void)
{
    static _Atomic(const struct airy_block_fns *) cached;
    const struct airy_block_fns *fns = atomic_load_explicit(&cached, memory_order_relaxed);
    if (fns)
        return fns;
    const unsigned flags = airy_cpu_flags();
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        if ((flags & sets[i].flag) == sets[i].flag)
            fns = &sets[i].fns;
    atomic_store_explicit(&cached, fns, memory_order_relaxed);
    return fns;
}

/*
 * True for the one way in which LZ4 writes a block of zeros: a zero, a match of offset 1, five
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

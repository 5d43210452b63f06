#include <lz4.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/thread.h"
#include "codec/framing.h"

enum { BLOCKS_A_TURN = 16, MAX_THREADS = 1024 };

/*
 * One chunk being encoded. Block b has its own place in dst, where it fits whatever it compresses
 * to; gaps are closed at the end.
 */
struct encoder {
    airy_block_layout layout;
    const uint8_t *src;
    uint8_t *dst;
    size_t slot;       /* bytes of dst for a block, length included */
    uint8_t *scratch;  /* one block for each thread; NULL for LZ4 */
    uint32_t *written; /* bytes of each block, length included; 0: liblz4 failed */
    uint32_t coded_blocks;
};

static size_t block_bound(const airy_block_layout *layout, uint32_t block_bytes)
{
    /* LZ4 stores a block that does not shrink. */
    const size_t payload =
        layout->codec == AIRY_CODEC_LZ4 ? block_bytes : (size_t)LZ4_compressBound((int)block_bytes);
    return AIRY_CHUNK_LENGTH_BYTES + payload;
}

static size_t chunk_bound(const airy_block_layout *layout)
{
    if (layout->codec == AIRY_CODEC_NONE || layout->codec == AIRY_CODEC_BSHUF)
        return (size_t)layout->frame_bytes;
    size_t bound;
    if (airy_mul_size(&bound, layout->full_blocks, block_bound(layout, layout->block_bytes)) ||
        airy_add_size(&bound, bound, AIRY_CHUNK_HEADER_BYTES + (size_t)layout->tail_bytes) ||
        airy_add_size(&bound, bound,
                      layout->last_bytes ? block_bound(layout, layout->last_bytes) : 0))
        return 0;
    return bound;
}

size_t airy_encode_bound(size_t size, const airy_codec_params *params)
{
    static const airy_codec_params defaults = {0};
    airy_block_layout layout;
    if (airy_block_layout_make(&layout, size, params ? params : &defaults) != AIRY_OK)
        return 0;
    return chunk_bound(&layout);
}

/* Block b with its length to dst; the bytes written, 0 when liblz4 fails. */
static uint32_t encode_block(const struct encoder *encoder, uint8_t *dst, uint32_t b,
                             uint8_t *scratch)
{
    const airy_block_layout *layout = &encoder->layout;
    const uint32_t decoded = airy_block_decoded_bytes(*layout, b);
    const uint8_t *src = encoder->src + airy_block_start(*layout, b);
    int size;
    if (layout->codec == AIRY_CODEC_LZ4) {
        size = LZ4_compress_default((const char *)src, (char *)dst + AIRY_CHUNK_LENGTH_BYTES,
                                    (int)decoded, (int)decoded - 1);
        if (size <= 0) {
            memcpy(dst + AIRY_CHUNK_LENGTH_BYTES, src, decoded);
            size = (int)decoded;
        }
    } else {
        airy_block_fns()->shuffle(scratch, src, decoded / layout->elem_size, layout->elem_size);
        size = LZ4_compress_default((const char *)scratch, (char *)dst + AIRY_CHUNK_LENGTH_BYTES,
                                    (int)decoded, LZ4_compressBound((int)decoded));
        if (size <= 0)
            return 0;
    }
    airy_store_be32(dst, (uint32_t)size);
    return AIRY_CHUNK_LENGTH_BYTES + (uint32_t)size;
}

static void encode_turn(void *arg, size_t turn, unsigned worker)
{
    const struct encoder *encoder = arg;
    const uint32_t first = (uint32_t)turn * BLOCKS_A_TURN;
    uint8_t *scratch =
        encoder->scratch ? encoder->scratch + (size_t)worker * encoder->layout.block_bytes : NULL;
    for (uint32_t b = first; b < first + BLOCKS_A_TURN && b < encoder->coded_blocks; b++)
        encoder->written[b] = encode_block(encoder, encoder->dst + b * encoder->slot, b, scratch);
}

static airy_status encode_blocks_parallel(size_t *written, struct encoder *encoder, airy_pool *pool)
{
    void *sizes;
    AIRY_TRY(airy_memory_alloc(&sizes, sizeof(uint32_t) * encoder->coded_blocks));
    encoder->written = sizes;
    airy_pool_run(pool, (encoder->coded_blocks + BLOCKS_A_TURN - 1) / BLOCKS_A_TURN, encode_turn,
                  encoder);
    airy_status status = AIRY_OK;
    size_t at = 0;
    for (uint32_t b = 0; b < encoder->coded_blocks; b++) {
        if (encoder->written[b] == 0) {
            status = airy_fail(AIRY_ERR_MEMORY, "liblz4 could not compress block %u", b);
            break;
        }
        memmove(encoder->dst + at, encoder->dst + b * encoder->slot, encoder->written[b]);
        at += encoder->written[b];
    }
    *written = at;
    airy_memory_release(sizes);
    return status;
}

static airy_status encode_blocks(size_t *written, struct encoder *encoder)
{
    size_t at = 0;
    for (uint32_t b = 0; b < encoder->coded_blocks; b++) {
        const uint32_t n = encode_block(encoder, encoder->dst + at, b, encoder->scratch);
        AIRY_FAIL_IF(n == 0, AIRY_ERR_MEMORY, "liblz4 could not compress block %u", b);
        at += n;
    }
    *written = at;
    return AIRY_OK;
}

/* bslz4 and lz4: header, blocks, tail. */
static airy_status encode_framed(size_t *written, void *dst, const void *src,
                                 const airy_block_layout *layout, uint32_t header_block_bytes,
                                 uint32_t threads)
{
    uint8_t *out = dst;
    airy_store_be32(out, (uint32_t)(layout->frame_bytes >> 32));
    airy_store_be32(out + 4, (uint32_t)layout->frame_bytes);
    airy_store_be32(out + 8, header_block_bytes);

    struct encoder encoder = {.layout = *layout,
                              .src = src,
                              .dst = out + AIRY_CHUNK_HEADER_BYTES,
                              .slot = block_bound(layout, layout->block_bytes),
                              .coded_blocks = layout->blocks - (layout->tail_bytes != 0)};
    const uint32_t turns = (encoder.coded_blocks + BLOCKS_A_TURN - 1) / BLOCKS_A_TURN;
    if (threads > turns)
        threads = turns;
    airy_status status = AIRY_OK;
    airy_pool *pool = NULL;
    void *scratch = NULL;
    size_t size = 0;
    if (threads > 1)
        AIRY_TRY_OR(out, airy_pool_create(&pool, threads));
    if (layout->codec == AIRY_CODEC_BSLZ4)
        AIRY_TRY_OR(
            out, airy_memory_alloc(&scratch, (size_t)layout->block_bytes * (pool ? threads : 1)));
    encoder.scratch = scratch;
    AIRY_TRY_OR(out, pool ? encode_blocks_parallel(&size, &encoder, pool)
                          : encode_blocks(&size, &encoder));
    memcpy(encoder.dst + size, encoder.src + layout->frame_bytes - layout->tail_bytes,
           layout->tail_bytes);
    *written = AIRY_CHUNK_HEADER_BYTES + size + layout->tail_bytes;
out:
    airy_memory_release(scratch);
    airy_pool_destroy(&pool);
    return status;
}

/* bshuf and none: as many bytes as before. */
static void encode_unframed(void *dst, const void *src, const airy_block_layout *layout)
{
    const size_t coded = (size_t)layout->frame_bytes - layout->tail_bytes;
    if (layout->codec == AIRY_CODEC_NONE) {
        memcpy(dst, src, coded);
    } else {
        for (size_t at = 0; at < coded; at += layout->block_bytes)
            airy_block_fns()->shuffle((uint8_t *)dst + at, (const uint8_t *)src + at,
                                      airy_min_size(layout->block_bytes, coded - at) /
                                          layout->elem_size,
                                      layout->elem_size);
    }
    memcpy((uint8_t *)dst + coded, (const uint8_t *)src + coded, layout->tail_bytes);
}

airy_status airy_encode(void *dst, size_t *dst_size, const void *src, size_t size,
                        const airy_codec_params *params)
{
    static const airy_codec_params defaults = {0};
    params = params ? params : &defaults;
    AIRY_FAIL_IF(!dst || !dst_size, AIRY_ERR_PARAM, "airy_encode: dst or dst_size is NULL");
    AIRY_FAIL_ON_IF(!src && size, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s = NULL for %zu bytes",
                    "src", size);
    AIRY_FAIL_ON_IF(params->threads > MAX_THREADS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %u, expected at most %d", "threads", params->threads, MAX_THREADS);
    static const uint8_t nothing[1];
    src = src ? src : nothing; /* size is 0 then */
    airy_block_layout layout;
    AIRY_TRY(airy_block_layout_make(&layout, size, params));
    AIRY_FAIL_IF(layout.codec == AIRY_CODEC_BSZSTD, AIRY_ERR_UNSUPPORTED,
                 "codec = bszstd, which is decoded only: encode with bslz4, lz4 or bshuf");
    const size_t bound = chunk_bound(&layout);
    AIRY_FAIL_IF((bound == 0 && size) || *dst_size < bound, AIRY_ERR_PARAM,
                 "capacity of dst = %zu bytes, expected at least %zu for %zu bytes", *dst_size,
                 bound, size);
    if (layout.codec == AIRY_CODEC_NONE || layout.codec == AIRY_CODEC_BSHUF) {
        encode_unframed(dst, src, &layout);
        *dst_size = size;
        return AIRY_OK;
    }
    /*
     * Readers of LZ4 chunks expect the block clipped to the data, those of bitshuffle the nominal
     * block.
     */
    uint32_t header_block_bytes = layout.block_bytes;
    if (layout.codec == AIRY_CODEC_BSLZ4)
        header_block_bytes = params->block_bytes
                                 ? params->block_bytes
                                 : airy_default_block_bytes(params->codec, layout.elem_size);
    return encode_framed(dst_size, dst, src, &layout, header_block_bytes, params->threads);
}

/*
 * Chunks and blocks from a fuzzer, through every decoder of the host, against the byte-by-byte
 * reference: same verdict, same reason, same bytes. All buffers have exactly the size they are
 * given as, so the address sanitizer sees any step outside.
 *
 * Input: 6 bytes of parameters, then the chunk. With bit 7 of the first the chunk is one of
 * bitshuffle-Zstandard, which has no reference: it decodes to exactly its bytes or is corrupt.
 */
#include <stdlib.h>
#include <string.h>

#include "airy/airy.h"
#include "base/cpu.h"
#include "codec/chunks.h"
#include "cpu/cpu_codec.h"
#include "fuzz.h"
#include "ref_codec.h"

static void *exact(size_t size)
{
    void *block = malloc(size ? size : 1);
    require(block != NULL);
    return block;
}

static void fuzz_block(airy_lz4_fn *lz4, airy_lz4_front_fn *front, const uint8_t *block,
                       size_t size, size_t dst_size)
{
    size_t filled = dst_size;
    uint8_t *got = exact(dst_size), *want = exact(dst_size);
    const enum ref_reason reason = ref_lz4_block(want, dst_size, block, size);
    const uint32_t result = lz4(got, dst_size, block, size);
    require(result == (reason == REF_GOOD ? AIRY_STATUS_GOOD : (uint32_t)reason));
    require(reason != REF_GOOD || memcmp(got, want, dst_size) == 0);
    require(front(got, dst_size, block, size, &filled) == result && filled <= dst_size);
    memset(got + filled, 0, dst_size - filled);
    require(reason != REF_GOOD || memcmp(got, want, dst_size) == 0);
    free(got);
    free(want);
}

static void fuzz_batch(const uint8_t *chunk, size_t chunk_size, size_t elements, airy_dtype dtype,
                       const airy_codec_params *codec, const uint8_t *want, bool good)
{
    static airy_device *device;
    static airy_queue *queue;
    if (!device) {
        require(airy_device_create(&device, "cpu", &(airy_device_params){.threads = 2}) == AIRY_OK);
        require(airy_queue_create(&queue, device) == AIRY_OK);
    }
    const size_t shape[3] = {1, 1, elements}, size = elements * airy_dtype_size(dtype);
    const airy_batch_params params = {.dtype = dtype,
                                      .height = 1,
                                      .width = elements,
                                      .codec = *codec,
                                      .frames = 1,
                                      .bytes = chunk_size + size};
    airy_batch *batch = NULL;
    require(airy_batch_create(&batch, device, &params) == AIRY_OK);
    const airy_status added = airy_batch_add(batch, chunk, chunk_size);
    require(added == AIRY_OK || (added == AIRY_ERR_CORRUPT && !good));
    if (added == AIRY_OK) {
        airy_array *frames = NULL, *status = NULL;
        uint8_t *got = exact(size);
        uint32_t word = 0;
        require(airy_array_create(&frames, device, dtype, 3, shape) == AIRY_OK);
        require(airy_array_create(&status, device, AIRY_DTYPE_U32, 1, shape) == AIRY_OK);
        require(airy_decode_batch(queue, frames, status, batch) == AIRY_OK);
        require(airy_array_pull(queue, got, size, frames) == AIRY_OK);
        require(airy_array_pull(queue, &word, sizeof(word), status) == AIRY_OK);
        require((word == AIRY_FRAME_GOOD) == good);
        require(!good || memcmp(got, want, size) == 0);
        free(got);
        airy_array_destroy(&frames);
        airy_array_destroy(&status);
    }
    airy_batch_destroy(&batch);
}

/* Blocks of Zstandard, each with a length that fits mostly, so that libzstd gets to see them. */
static int fuzz_zstd(const uint8_t *data, size_t size)
{
    const airy_codec_params codec = {.codec = AIRY_CODEC_BSZSTD, .elem_size = 1u + (data[1] & 3)};
    const size_t decoded = (1 + (data[2] | (size_t)data[3] << 8) % 4096) * codec.elem_size,
                 chunk_size = size - 6, block = 8 * codec.elem_size << (data[4] & 15);
    uint8_t *chunk = exact(chunk_size), *got = exact(decoded);
    memcpy(chunk, data + 6, chunk_size);
    for (size_t i = 0; chunk_size >= 16 && (data[5] & 3) && i < 4; i++) {
        chunk[i] = 0;
        chunk[4 + i] = (uint8_t)(decoded >> (8 * (3 - i)));
        chunk[8 + i] = (uint8_t)(block >> (8 * (3 - i)));
        if (data[5] & 2) /* one block that is all there is */
            chunk[12 + i] = (uint8_t)((chunk_size - 16) >> (8 * (3 - i)));
    }
    const airy_status status = airy_decode(got, decoded, chunk, chunk_size, &codec);
    require(status == AIRY_OK || status == AIRY_ERR_CORRUPT || status == AIRY_ERR_UNSUPPORTED);
    free(chunk);
    free(got);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 6)
        return 0;
    if (data[0] & 0x80)
        return fuzz_zstd(data, size);
    static const struct {
        uint32_t size;
        airy_dtype dtype;
    } kinds[] = {{1, AIRY_DTYPE_U8},
                 {2, AIRY_DTYPE_U16},
                 {4, AIRY_DTYPE_U32},
                 {8, AIRY_DTYPE_U64},
                 {3, AIRY_DTYPE_COUNT}};
    const size_t kind = data[1] % (sizeof(kinds) / sizeof(kinds[0])),
                 elements = 1 + (data[2] | (size_t)data[3] << 8) % 4096;
    airy_codec_params codec = {.codec = (airy_codec)(data[0] & 3), .elem_size = kinds[kind].size};
    codec.block_bytes = data[4] & 15 ? 8 * codec.elem_size << (data[4] & 15) : 0;
    const size_t decoded = elements * codec.elem_size, chunk_size = size - 6;
    uint8_t *chunk = exact(chunk_size), *want = exact(decoded), *got = exact(decoded);
    memcpy(chunk, data + 6, chunk_size);
    /* Mostly with a header that fits, so that what follows is reached. */
    if (chunk_size >= 12 && data[5] & 3) {
        const uint32_t block = codec.block_bytes ? codec.block_bytes : 8 * codec.elem_size;
        for (size_t i = 0; i < 8; i++)
            chunk[i] = (uint8_t)((uint64_t)decoded >> (8 * (7 - i)));
        for (size_t i = 0; i < 4; i++)
            chunk[8 + i] = (uint8_t)(block >> (8 * (3 - i)));
    }
    const bool framed = codec.codec == AIRY_CODEC_BSLZ4 || codec.codec == AIRY_CODEC_LZ4;
    const airy_status status = airy_decode(got, decoded, chunk, chunk_size, &codec);
    bool good = status == AIRY_OK;
    require(good || status == AIRY_ERR_CORRUPT);
    if (framed) {
        uint32_t bad;
        good = ref_decode_chunk(want, decoded, chunk, chunk_size, codec.codec == AIRY_CODEC_BSLZ4,
                                codec.elem_size, &bad);
        require(good == (status == AIRY_OK));
        require(!good || memcmp(got, want, decoded) == 0);
    } else {
        require(good == (chunk_size == decoded));
        memcpy(want, got, decoded);
    }
    if (kinds[kind].dtype != AIRY_DTYPE_COUNT)
        fuzz_batch(chunk, chunk_size, elements, kinds[kind].dtype, &codec, want, good);
    fuzz_block(airy_lz4_block_portable, airy_lz4_front_portable, chunk, chunk_size, decoded);
#if defined(__x86_64__)
    if (airy_cpu_flags() & AIRY_CPU_AVX2)
        fuzz_block(airy_lz4_block_avx2, airy_lz4_front_avx2, chunk, chunk_size, decoded);
#elif defined(__aarch64__)
    fuzz_block(airy_lz4_block_neon, airy_lz4_front_neon, chunk, chunk_size, decoded);
#endif
    free(chunk);
    free(want);
    free(got);
    return 0;
}

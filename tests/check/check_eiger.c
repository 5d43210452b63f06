#include "check_eiger.h"

#include <string.h>

#include "airy/codec.h"
#include "base/random.h"

enum { DISTINCT = 8, STEP = 16 };

void check_eiger_frame(void *frame, airy_dtype dtype, size_t i)
{
    const size_t size = airy_dtype_size(dtype);
    for (size_t k = 0; k < (size_t)EIGER_HEIGHT * EIGER_WIDTH; k++) {
        const double y = (double)(k / EIGER_WIDTH), x = (double)(k % EIGER_WIDTH);
        const double q = hypot(y - 1083.5, x - 1035.0) * (14.0 / 1500.0);
        uint32_t v = UINT32_MAX;
        if (!check_eiger_gap(k))
            v = (uint32_t)(airy_random_poisson(100 / (1 + q * q), 1, 0, k) + STEP * (i % DISTINCT));
        memcpy((uint8_t *)frame + k * size, &v, size); /* little-endian */
    }
}

static airy_batch *create_batch(struct check *c, airy_dtype dtype, size_t frames,
                                airy_codec_params *codec)
{
    *codec = (airy_codec_params){.codec = AIRY_CODEC_BSLZ4,
                                 .elem_size = (uint32_t)airy_dtype_size(dtype)};
    const airy_batch_params params = {.dtype = dtype,
                                      .height = EIGER_HEIGHT,
                                      .width = EIGER_WIDTH,
                                      .codec = *codec,
                                      .frames = frames};
    airy_batch *batch = NULL;
    CHECK_OK(c, airy_batch_create(&batch, c->device, &params));
    return batch;
}

airy_batch *check_eiger_batch(struct check *c, airy_dtype dtype, size_t frames)
{
    airy_codec_params codec;
    airy_batch *batch = create_batch(c, dtype, frames, &codec);
    const size_t size = (size_t)EIGER_HEIGHT * EIGER_WIDTH * codec.elem_size,
                 bound = airy_encode_bound(size, &codec);
    uint8_t *frame = check_alloc(c, size), *chunk = check_alloc(c, bound * DISTINCT);
    size_t chunk_size[DISTINCT];
    for (size_t i = 0; i < frames && batch; i++) {
        const size_t k = i % DISTINCT;
        if (i == k) {
            chunk_size[k] = bound;
            check_eiger_frame(frame, dtype, i);
            CHECK_OK(c, airy_encode(chunk + k * bound, &chunk_size[k], frame, size, &codec));
        }
        CHECK_OK(c, airy_batch_add(batch, chunk + k * bound, chunk_size[k]));
    }
    return batch;
}

airy_batch *check_eiger_case(struct check *c, size_t frames)
{
    airy_codec_params codec;
    airy_batch *batch = create_batch(c, AIRY_DTYPE_U32, frames, &codec);
    const size_t count = (size_t)EIGER_HEIGHT * EIGER_WIDTH, size = count * sizeof(uint32_t),
                 bound = airy_encode_bound(size, &codec);
    uint32_t *first = check_alloc(c, size), *frame = check_alloc(c, size);
    uint8_t *chunk = check_alloc(c, bound);
    check_eiger_frame(first, AIRY_DTYPE_U32, 0);
    for (size_t i = 0; i < frames && batch; i++) {
        size_t chunk_size = bound;
        for (size_t k = 0; k < count; k++)
            frame[k] = first[k] == UINT32_MAX ? UINT32_MAX : first[k] + (uint32_t)(37 * i % 500);
        CHECK_OK(c, airy_encode(chunk, &chunk_size, frame, size, &codec));
        CHECK_OK(c, airy_batch_add(batch, chunk, chunk_size));
    }
    return batch;
}

#include "check_eiger.h"

#include <string.h>

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

airy_batch *check_eiger_batch(struct check *c, airy_dtype dtype, size_t frames)
{
    const airy_codec_params codec = {.codec = AIRY_CODEC_BSLZ4,
                                     .elem_size = (uint32_t)airy_dtype_size(dtype)};
    const airy_batch_params params = {.dtype = dtype,
                                      .height = EIGER_HEIGHT,
                                      .width = EIGER_WIDTH,
                                      .codec = codec,
                                      .frames = frames};
    const size_t size = (size_t)EIGER_HEIGHT * EIGER_WIDTH * codec.elem_size,
                 bound = airy_encode_bound(size, &codec);
    airy_batch *batch = NULL;
    uint8_t *frame = check_alloc(c, size), *chunk = check_alloc(c, bound * DISTINCT);
    size_t chunk_size[DISTINCT];
    if (!CHECK_OK(c, airy_batch_create(&batch, c->device, &params)))
        return NULL;
    for (size_t i = 0; i < frames; i++) {
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

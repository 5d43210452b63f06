/* A build without libzstd says so. */
#include "base/error.h"
#include "codec/zstd_block.h"

airy_status airy_zstd_create(struct airy_zstd **zstd)
{
    (void)zstd;
    return airy_fail(AIRY_ERR_UNSUPPORTED,
                     "this build does not decode bitshuffle-Zstandard, it lacks libzstd");
}

void airy_zstd_destroy(struct airy_zstd *zstd)
{
    (void)zstd;
}

airy_status airy_zstd_block(struct airy_zstd *zstd, uint8_t *dst, size_t dst_size,
                            const uint8_t *src, size_t src_size)
{
    (void)zstd;
    (void)dst;
    (void)dst_size;
    (void)src;
    (void)src_size;
    return AIRY_ERR_UNSUPPORTED;
}

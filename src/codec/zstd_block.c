#include "codec/zstd_block.h"

#include <zstd.h>

#include "base/error.h"

/* libzstd's type is struct ZSTD_DCtx_s, behind a pointer everywhere. */
static ZSTD_DCtx *context(struct airy_zstd *zstd)
{
    return (ZSTD_DCtx *)zstd;
}

airy_status airy_zstd_create(struct airy_zstd **zstd)
{
    ZSTD_DCtx *made = ZSTD_createDCtx();
    AIRY_FAIL_IF(!made, AIRY_ERR_MEMORY, "out of memory for a decoder of Zstandard");
    *zstd = (struct airy_zstd *)made;
    return AIRY_OK;
}

void airy_zstd_destroy(struct airy_zstd *zstd)
{
    ZSTD_freeDCtx(context(zstd));
}

airy_status airy_zstd_block(struct airy_zstd *zstd, uint8_t *dst, size_t dst_size,
                            const uint8_t *src, size_t src_size)
{
    const unsigned long long said = ZSTD_getFrameContentSize(src, src_size);
    AIRY_FAIL_IF(said == ZSTD_CONTENTSIZE_ERROR, AIRY_ERR_CORRUPT, "no Zstandard frame");
    /* Several frames may give a block together: none of them more than it. */
    AIRY_FAIL_IF(said != ZSTD_CONTENTSIZE_UNKNOWN && said > dst_size, AIRY_ERR_CORRUPT,
                 "a Zstandard frame of %llu bytes, expected at most %zu", said, dst_size);
    const size_t got = ZSTD_decompressDCtx(context(zstd), dst, dst_size, src, src_size);
    AIRY_FAIL_IF(ZSTD_isError(got), AIRY_ERR_CORRUPT, "Zstandard: %s", ZSTD_getErrorName(got));
    AIRY_FAIL_IF(got != dst_size, AIRY_ERR_CORRUPT, "%zu bytes of Zstandard, expected %zu", got,
                 dst_size);
    return AIRY_OK;
}

#include "airy/random.h"

#include "base/error.h"
#include "base/random.h"

airy_status airy_random_poisson_fill(double *values, size_t count, uint64_t seed, uint64_t stream,
                                     uint64_t first)
{
    AIRY_FAIL_ON_IF(!values && count, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = NULL with count = %zu", "values", count);
    for (size_t i = 0; i < count; i++)
        AIRY_FAIL_IF(!(values[i] >= 0 && values[i] <= 0x1p53), AIRY_ERR_PARAM,
                     "mean of value %zu = %g, expected 0 to 2^53", i, values[i]);
    for (size_t i = 0; i < count; i++)
        values[i] = (double)airy_random_poisson(values[i], seed, stream, first + i);
    return AIRY_OK;
}

void airy_random_words(uint32_t *out, size_t count, uint64_t seed, uint64_t stream, uint64_t first)
{
    uint32_t block[4];
    for (size_t i = 0; i < count; i++) {
        const uint64_t position = first + i;
        if (i == 0 || position % 4 == 0)
            airy_random_block(block, seed, stream, position / 4);
        out[i] = block[position % 4];
    }
}

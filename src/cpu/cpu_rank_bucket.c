/* What the sets' kernels with buckets take (rank_bucket_tmpl.c). */
#include "base/size.h"
#include "cpu/cpu_rank.h"

/* From here on what surrounds the results is most of a tile. */
enum { MOST_TAPS = 191, TILE = 128 };

size_t airy_rank_bucket_tile(size_t taps)
{
    return airy_min_size(airy_max_size(TILE, 2 * taps), AIRY_RANK_BUCKET_SIDE + 1 - taps);
}

bool airy_rank_buckets_take(size_t planes, size_t height, size_t width)
{
    if (height > MOST_TAPS || width > MOST_TAPS || planes * height > AIRY_RANK_BUCKET_SIDE)
        return false;
    const size_t rows = airy_rank_bucket_tile(height) + height - 1,
                 length = airy_rank_bucket_tile(width) + width - 1;
    return planes * rows * length <=
           (size_t)AIRY_RANK_BUCKET_CHUNKS * AIRY_RANK_CHUNK * AIRY_RANK_BUCKETS;
}

/* Places, then either what sorting takes or the lists and columns. */
size_t airy_rank_bucket_scratch(size_t keys, size_t length)
{
    const size_t padded = airy_align_up(keys, AIRY_RANK_CHUNK);
    return padded * sizeof(uint32_t) +
           airy_max_size(airy_rank_sort_scratch(keys), 3 * padded + length * AIRY_RANK_BUCKETS);
}

/* What label.cl and measure.cl share: an empty entry of the table of measures. */
#ifndef AIRY_KERNELS_LABEL_PART_H
#define AIRY_KERNELS_LABEL_PART_H

#include "shared/label_geom.h"

AIRY_INLINE void airy_label_clear(__global airy_label_part *part, uint depth)
{
    part->least = ULONG_MAX;
    part->most = 0ul;
    for (uint i = 0u; i < 3u; i++) {
        part->place[i] = 0ul;
        part->first[i] = i == 0u && depth == 1u ? 0u : UINT_MAX;
        part->last[i] = 0u;
    }
    for (uint i = 0u; i < AIRY_LABEL_SUMS; i++)
        part->wide[i][0] = part->wide[i][1] = 0ul;
    part->count = part->nan = 0u;
    part->least_at = part->most_at = UINT_MAX;
}

#endif

/* Clips and quantiles of bins over frames in memory. The same on host and device. */
#ifndef AIRY_SHARED_RING_PASS_GEOM_H
#define AIRY_SHARED_RING_PASS_GEOM_H

#include "shared/gather_geom.h"
#include "shared/ring_geom.h"

/*
 * Items of a work-group that has a bin, when it clips and when it finds quantiles. Parts of the
 * order of sums. Clips wait for each other's sums most of the time: more groups wait at a time.
 */
#define AIRY_RING_CLIP_GROUP     128u
#define AIRY_RING_QUANTILE_GROUP 256u
/* Frames of one bin that a work-group of ring_clip_anew checks for marks. */
#define AIRY_RING_ANEW_FRAMES 32u
/*
 * Where there are thousands of bins with at most so many entries, these have an item each. They are
 * dealt to slices, which are the bins of a work-group, in descending order of their sizes.
 */
#define AIRY_RING_ALONE 64u
#define AIRY_RING_SLICE 128u
/* Of the statistics of a frame: work-groups, their items, and doubles that each group leaves. */
#define AIRY_RING_STAT_GROUPS 512u
#define AIRY_RING_STAT_ITEMS  256u
#define AIRY_RING_STAT_PARTS  4u

/*
 * Entry k of a bin that has a work-group is number first + k; of one that has an item, first + k *
 * AIRY_RING_SLICE.
 */
typedef struct airy_ring_bin {
    double scale; /* airy_ring_scale */
    airy_u32 first, count;
    airy_u32 bin; /* ~0: none, a slice's rest */
    airy_u32 unused;
} airy_ring_bin;
AIRY_ASSERT_SIZE(airy_ring_bin, 24);

typedef struct airy_ring_pass {
    airy_gather_geom gather; /* where frames and results are, and the rules for raw values */
    airy_ring_rule rule;
    airy_u64 entries; /* of a frame in scratch */
    airy_u64 pixels;
} airy_ring_pass;
AIRY_ASSERT_SIZE(airy_ring_pass, 240);

#endif

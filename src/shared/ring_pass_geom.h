/* Clips and quantiles of bins over frames in memory. The same on host and device. */
#ifndef AIRY_SHARED_RING_PASS_GEOM_H
#define AIRY_SHARED_RING_PASS_GEOM_H

#include "shared/gather_geom.h"
#include "shared/ring_geom.h"

/* Items of a work-group. Part of the order of sums. */
#define AIRY_RING_GROUP 256u
/*
 * Bins with more entries than this have a work-group each, the others an item. The latter are
 * dealt to slices of AIRY_RING_GROUP bins in descending order of their sizes.
 */
#define AIRY_RING_ALONE 64u
/* Of the statistics of a frame: work-groups, and doubles that each leaves. */
#define AIRY_RING_STAT_GROUPS 256u
#define AIRY_RING_STAT_PARTS  4u

/*
 * Entry k of a bin that has a work-group is number first + k; of one that has an item, first + k *
 * AIRY_RING_GROUP.
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

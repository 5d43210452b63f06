/* The Hampel filter on a device. The same on host and device. */
#ifndef AIRY_SHARED_HAMPEL_GEOM_H
#define AIRY_SHARED_HAMPEL_GEOM_H

#include "shared/rank_geom.h"

/* dst holds the medians before. */
typedef struct airy_hampel_geom {
    airy_rank_geom box; /* axis, runs and tiles are not looked at */
    airy_u64 count;     /* elements of the result */
    double limit;       /* the MADs that an element may be off the median */
    double value;       /* the border's */
} airy_hampel_geom;
AIRY_ASSERT_SIZE(airy_hampel_geom, 184);

#endif

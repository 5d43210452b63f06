/* Convolution on a device. The same on host and device. */
#ifndef AIRY_SHARED_FILTER_GEOM_H
#define AIRY_SHARED_FILTER_GEOM_H

#include "shared/border_index.h"

/*
 * One pass. Result i along an axis is the sum over j < taps of weight j times the element i + offset
 * - (taps - 1) + j. Axes 0, 1, 2: z, y, x; steps in elements, of x 1.
 */
typedef struct airy_filter_geom {
    airy_i64 src_offset, dst_offset;
    airy_i64 src_step[3], dst_step[3]; /* image, z, y */
    airy_i64 n[3], out[3], offset[3];
    airy_u32 taps[3];
    airy_u32 border;
    airy_u32 axis;                    /* of a pass along one */
    airy_u32 add;                     /* to what is there */
    airy_u32 tile_width, tile_height; /* of a direct pass: elements in local memory */
} airy_filter_geom;
AIRY_ASSERT_SIZE(airy_filter_geom, 168);

/* Items of a work-group of a direct pass: x and y; rows of results that an item makes. */
#define AIRY_FILTER_X    32u
#define AIRY_FILTER_Y    8u
#define AIRY_FILTER_EACH 4u
/* Results that an item of a pass along y or z makes, one behind the other. */
#define AIRY_FILTER_RUN 8u
/* Items of a pass along x, and results of each. */
#define AIRY_FILTER_LINE      256u
#define AIRY_FILTER_LINE_EACH 4u

#endif

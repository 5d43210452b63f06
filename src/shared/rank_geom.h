/* Rank filters on a device. The same on host and device. */
#ifndef AIRY_SHARED_RANK_GEOM_H
#define AIRY_SHARED_RANK_GEOM_H

#include "shared/border_index.h"

/*
 * The window of result i along an axis begins at element i + first and has `taps` elements. Axes 0,
 * 1, 2: z, y, x; steps in elements, of x 1.
 */
typedef struct airy_rank_geom {
    airy_i64 src_offset, dst_offset;
    airy_i64 src_step[3], dst_step[3]; /* image, z, y */
    airy_i64 n[3], first[3];
    airy_u64 outside; /* the border's value: the bits of an element */
    airy_u32 taps[3];
    airy_u32 border;
    airy_u32 count, rank;             /* elements of a window; the one that is wanted */
    airy_u32 axis;                    /* of a pass along one */
    airy_u32 runs;                    /* of a footprint; 0: the box */
    airy_u32 tile_width, tile_height; /* elements in local memory */
} airy_rank_geom;
AIRY_ASSERT_SIZE(airy_rank_geom, 160);

/* Elements of a footprint's row that follow each other: first to end - 1. */
typedef struct airy_rank_stretch {
    airy_u32 plane, row, first, end;
} airy_rank_stretch;
AIRY_ASSERT_SIZE(airy_rank_stretch, 16);

/* Items of a work-group along x; results of an item of rank_small, one below the other, by the
 * elements of the window. */
#define AIRY_RANK_X                 32u
#define AIRY_RANK_SMALL_EACH(count) ((count) == 9u ? 4u : 2u)
/* Items of a pass along x; it makes so many results for each of a run. */
#define AIRY_RANK_LINE 64u

#endif

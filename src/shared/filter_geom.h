/* Convolution on a device. The same on host and device. */
#ifndef AIRY_SHARED_FILTER_GEOM_H
#define AIRY_SHARED_FILTER_GEOM_H

#include "shared/border_index.h"

/*
 * One pass. Result i along an axis is the sum over j < taps of weight j times the element i + offset
 * - (taps - 1) + j. Axes 0, 1, 2: z, y, x; steps in elements, of x 1. Work-groups are numbered
 * strips first, then segments, then planes (or images, of a pass along z); those in three dimensions:
 * down strips, the strips, the last one first, planes; of convolve_volume tiles across, tiles down,
 * segments along z of image after image.
 */
typedef struct airy_filter_geom {
    airy_i64 src_offset, dst_offset;
    airy_i64 src_step[3], dst_step[3]; /* image, z, y */
    airy_i64 n[3], out[3], offset[3];
    airy_u32 taps[3];
    airy_u32 border;
    airy_u32 axis;             /* of a pass along one */
    airy_u32 add;              /* to what is there */
    airy_u32 strips, segments; /* work-groups across and along */
    airy_u32 length;           /* results of a segment, a multiple of those of a step */
    airy_u32 pitch;            /* of lines in local memory, in units of 16 bytes */
    airy_u32 ring, weights;    /* where they begin in local memory, in units of 16 bytes */
    airy_u32 in_place;         /* a march over its own source, as airy_filter_in_place admits */
    airy_u32 unit;             /* each line of weights adds up to 1: constants are kept */
} airy_filter_geom;
AIRY_ASSERT_SIZE(airy_filter_geom, 192);

/* Results that an item makes at a time, one behind the other; rows in a block of a ring. */
#define AIRY_FILTER_EACH 8u

/*
 * Direct passes: a group makes AIRY_FILTER_WIDE results across, AIRY_FILTER_QUAD of each item; taps
 * are taken in blocks of at most AIRY_FILTER_BLOCK x AIRY_FILTER_BLOCK.
 */
#define AIRY_FILTER_WIDE  64u
#define AIRY_FILTER_QUAD  4u
#define AIRY_FILTER_BLOCK 16u

/*
 * Four lines at a time (kernels/convolve_quads.cl): a group makes AIRY_FILTER_ACROSS results along
 * x, or goes along AIRY_FILTER_WIDE columns.
 */
#define AIRY_FILTER_ACROSS 128u

/* Taps of a line up to which kernels/convolve_sweep.cl takes both lines at a time. */
#define AIRY_FILTER_SWEPT 17u

/* Blocks of a ring that hold what AIRY_FILTER_EACH results need. */
static inline airy_u32 airy_filter_slots(airy_u32 taps)
{
    return (taps + 2u * AIRY_FILTER_EACH - 2u) / AIRY_FILTER_EACH;
}

/* Weights of a line in local memory: to the next whole block. */
static inline airy_u32 airy_filter_rounded(airy_u32 taps)
{
    return (taps + AIRY_FILTER_EACH - 1u) / AIRY_FILTER_EACH * AIRY_FILTER_EACH;
}

/*
 * Whether a march over an axis of n elements can write over its source: results are behind what is
 * still to be read, and of what borders need at the end either nothing is overwritten or the ring
 * has it. Not so where the first elements come again behind the last, or lines fold more than once.
 */
static inline bool airy_filter_in_place(airy_i64 n, airy_i64 out, airy_i64 offset, airy_u32 taps,
                                        airy_u32 border)
{
    return n == out && 2 * offset <= (airy_i64)taps && n > (airy_i64)taps &&
           border != AIRY_BORDER_INDEX_WRAP;
}

#endif

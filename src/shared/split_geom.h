/*
 * An integrator's set-up on the device: full splitting in one dimension of a flat detector, in
 * units that take roots and quotients alone (split_math.h), so that it is the host's to the last
 * bit.
 */
#ifndef AIRY_SHARED_SPLIT_GEOM_H
#define AIRY_SHARED_SPLIT_GEOM_H

#include "shared/scalar.h"

/* Tiles of 32 x 32 pixels, each worked on by a group of 256 items. */
#define AIRY_SPLIT_SIDE  32u
#define AIRY_SPLIT_GROUP 256u

/* A pixel has as many bins at most; where one has more, the host does it all. */
#define AIRY_SPLIT_MOST 8u

/*
 * Of a tile: what its pixels that are not masked reach, in the unit, INFINITY and -INFINITY where
 * there are none; how many do not count, as struct airy_losses has it; the largest absolute
 * values.
 */
typedef struct airy_split_facts {
    double lower, upper;
    airy_u32 masked, not_finite, zero;
    float norm, dark;
    airy_u32 reserved;
} airy_split_facts;
AIRY_ASSERT_SIZE(airy_split_facts, 40);

/* Bins that pixels of a tile may reach, and the number of its first row of sums. */
typedef struct airy_split_tile {
    airy_u32 first, count, row;
} airy_split_tile;
AIRY_ASSERT_SIZE(airy_split_tile, 12);

/*
 * Of a bin of a tile, then of all: the integrator's base sums in the order of enum airy_base as
 * double doubles, what is above first, or the fused engine's in fixed point.
 */
#define AIRY_SPLIT_PLANES 5u
typedef struct airy_split_row {
    double sum[10];
    airy_u32 entries;
    float largest; /* coefficient */
} airy_split_row;
AIRY_ASSERT_SIZE(airy_split_row, 88);

typedef struct airy_split_fixed_row {
    airy_u64 sum[6]; /* the last: entries */
} airy_split_fixed_row;
AIRY_ASSERT_SIZE(airy_split_fixed_row, 48);

/* What the unit is made of. */
#define AIRY_SPLIT_SINE         0u /* scale sin(theta) */
#define AIRY_SPLIT_SINE_SQUARED 1u
#define AIRY_SPLIT_RADIUS       2u /* scale r */

typedef struct airy_split_geom {
    double m[3][3], pixel1, pixel2, poni1, poni2; /* see integrate/pose.h */
    double height, width;
    double beam1, beam2;
    double scale;
    double lower, delta; /* of the bins */
    double fixed[3];     /* powers of two: fixed point from normalization, its square, dark */
    double dist, normalization;
    double polarization[2]; /* its factor times cosine and sine of twice its offset */
    airy_u32 flip1, flip2, unit, polar;
    airy_u32 rows, columns, tiles_x, tiles;
    airy_u32 bins, fraction_bits, pixels, has_dark;
    airy_u32 poisson, solid_angle, polarized, reserved;
} airy_split_geom;
AIRY_ASSERT_SIZE(airy_split_geom, 280);

#endif

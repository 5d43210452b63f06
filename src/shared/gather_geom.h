/* Sums of frames in memory by walking the matrix tile by tile. The same on host and device. */
#ifndef AIRY_SHARED_GATHER_GEOM_H
#define AIRY_SHARED_GATHER_GEOM_H

#include "shared/pixel_test.h"

/*
 * An image is cut into tiles of TILE_WIDTH x TILE_HEIGHT pixels, which a work-group holds in local
 * memory in rows of PITCH, with which the pixels that the items of a warp add up at a time, parts of
 * neighbouring arcs, lie in different banks as far as any pitch can do it (32 items in 1.9 accesses
 * on average for rings; 3.8 with 64, 2.7 with 67). The last place is no pixel: it holds 0, for entries that only
 * fill up.
 */
#define AIRY_GATHER_TILE_WIDTH  64u
#define AIRY_GATHER_TILE_HEIGHT 32u
#define AIRY_GATHER_PITCH       76u
#define AIRY_GATHER_NOWHERE     (AIRY_GATHER_PITCH * AIRY_GATHER_TILE_HEIGHT)
#define AIRY_GATHER_PLACES      (AIRY_GATHER_NOWHERE + 1u)
/* A bit a pixel of the tile, row by row: those that count. */
#define AIRY_GATHER_VALID_WORDS (AIRY_GATHER_TILE_WIDTH * AIRY_GATHER_TILE_HEIGHT / 32u)
/* Items of a work-group. Part of the order of sums, so the same on every device. */
#define AIRY_GATHER_GROUP 256u

/*
 * What a bin has in a tile is a segment. A segment's entries are dealt to one or more pieces in
 * turn, a piece being what one item adds up; a tile with more segments than a group has items is
 * walked in several units. Entry k of item i of a unit is number first_entry + k * GROUP + i; all
 * items have depth entries, of which the last may only fill up.
 */
typedef struct airy_gather_unit {
    airy_u64 first_entry;
    airy_u32 depth;
    airy_u32 x, y; /* of the tile's first pixel */
    airy_u32 first_segment, segments;
    airy_u32 tile; /* its statistics are this unit's to find; ~0: another's */
} airy_gather_unit;
AIRY_ASSERT_SIZE(airy_gather_unit, 32);

/* Segments of a unit are in ascending order of bins; slots are by bin, in it by tile. */
typedef struct airy_gather_segment {
    airy_u32 slot, bin;
    airy_u16 first, count; /* pieces: items of the group */
} airy_gather_segment;
AIRY_ASSERT_SIZE(airy_gather_segment, 12);

/*
 * Scratch of a launch, in doubles: signal [frames][slots], variance likewise (error models poisson
 * and azimuthal), kept [frames][slots][5] (normalization, normalization2, count, dark, variance of
 * the entries left, where some are not), stats [frames][tiles][2] (total, max); then as words gone
 * [frames][slots] (how many entries are not left), counts [frames][tiles][2] (invalid, saturated).
 */
typedef struct airy_gather_geom {
    airy_pixel_test test;
    airy_u64 frames_offset;         /* elements, to the first frame of this launch */
    airy_u64 sums_offset;           /* doubles, likewise */
    airy_u64 stats_offset;          /* doubles, likewise */
    airy_u64 status_offset;         /* words, likewise */
    airy_u64 variance, kept, stats; /* doubles, in scratch; signal is at 0 */
    airy_u64 gone, counts;          /* words, in scratch */
    airy_u32 width, height, bins, slots, tiles;
    airy_u32 frames; /* of this launch */
    airy_u32 has_status;
    /*
     * The test for integers in 32 bits, of values less the dtype's lowest: left out where value -
     * lo <= span, saturated where value >= saturation, if at all.
     */
    airy_u32 lo, span, saturation;
    airy_u32 has_invalid, has_saturation;
    airy_u32 odd; /* values below it are neither, if there is such a value */
    airy_u32 reserved;
} airy_gather_geom;
AIRY_ASSERT_SIZE(airy_gather_geom, 176);

#endif

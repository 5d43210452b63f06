/*
 * Compressed frames straight into bins: tables and sums in fixed point. The same on host and
 * device; docs/numerics.md derives the widths.
 */
#ifndef AIRY_SHARED_FUSED_GEOM_H
#define AIRY_SHARED_FUSED_GEOM_H

#include "shared/block_layout.h"
#include "shared/pixel_test.h"

/*
 * The pixel table has a word a pixel: the number of the first of two neighbouring bins above, the
 * second bin's weight in the lower fraction_bits F; the first bin has the rest of 2^F. Pixels that
 * do not fit this (three bins, weights that do not add up to 1, bins of slivers) and those outside
 * the range point to a bin behind the last; the former are in the list of extra entries. Tiles of
 * 1,024 pixels are stored so that 32 lanes with 32 pixels each read neighbouring 16 bytes: see
 * airy_fused_place.
 */
typedef struct airy_fused_extra {
    airy_u32 pixel, bin;
    airy_u32 weight, shift; /* weight 2^-shift; shift is the bin's, F but for bins of slivers */
} airy_fused_extra;
AIRY_ASSERT_SIZE(airy_fused_extra, 16);

#define AIRY_FUSED_TILE         1024u
#define AIRY_FUSED_VALID_BEHIND 256u /* words of valid pixels, of which any may do: a block's end */
#define AIRY_FUSED_BEHIND                                                                          \
    3u /* bins behind the last: one for a weight of 0, two for pixels that
                                go nowhere */

static inline airy_u32 airy_fused_place(airy_u32 pixel)
{
    const airy_u32 in = pixel & 31u, word = pixel >> 5 & 31u;
    return (pixel & ~1023u) + (in >> 2) * 128u + word * 4u + (in & 3u);
}

/* Weight squared in the unit of the weight, rounded. */
static inline airy_u64 airy_fused_square(airy_u64 weight, airy_u32 shift)
{
    return (weight * weight + ((airy_u64)1 << (shift - 1u))) >> shift;
}

/*
 * Planes of 64-bit sums of a frame, [span] each with span = bins + AIRY_FUSED_BEHIND; the last
 * five of pixels left out.
 */
#define AIRY_FUSED_SIGNAL         0u
#define AIRY_FUSED_VARIANCE       1u
#define AIRY_FUSED_NORMALIZATION  2u
#define AIRY_FUSED_NORMALIZATION2 3u
#define AIRY_FUSED_COUNT          4u
#define AIRY_FUSED_DARK           5u
#define AIRY_FUSED_SQUARES        6u
#define AIRY_FUSED_PLANES         7u
/* Planes of words: what signal and variance are above 2^64; how many entries are left out. */
#define AIRY_FUSED_OVER        0u
#define AIRY_FUSED_GONE        2u
#define AIRY_FUSED_WORD_PLANES 3u
/*
 * Words behind these planes: total (2), rank of the largest value, invalid, saturated, complement
 * of the status, 1 unused, 1 if a value was seen (signed values only).
 */
#define AIRY_FUSED_STAT_WORDS 8u

/*
 * Frames summed together (kernels/integrate_planes.cl): the lanes of a row of AIRY_FUSED_LANES have
 * a frame each; of few frames, several lanes share one. 64-bit sums [1 + poisson][span]
 * [AIRY_FUSED_LANES] at lane_sums, of frame k at k; behind them totals [AIRY_FUSED_SLOTS]
 * [AIRY_FUSED_LANES], then largest values, likewise but of 32 bits; slots keep rows from waiting for
 * each other.
 *
 * They read the pixel table in another form, which integrate_table.cl makes of it: parts of
 * AIRY_FUSED_PART pixels, walked from first to last. A pixel's two bins are the near and the far
 * one. Where the pair moves by one bin towards the far one, so that the near one is done with, the
 * bit of the pixel is set in the changes of its word of 32 pixels; where it moves in any other way
 * also in the jumps. A part has a head, then a word a pixel: the far bin's weight. A walk may begin
 * at any word of 32 pixels; it leaves out the change at its first pixel.
 */
#define AIRY_FUSED_LANES 32u
#define AIRY_FUSED_SLOTS 16u
#define AIRY_FUSED_PART  256u

/* Words of a part: places in the head. */
#define AIRY_PART_NEAR    0u  /* of each of 8 words: the near bin at its first pixel, and */
#define AIRY_PART_UP      31u /* this bit, set where the far bin is above the near one, not below */
#define AIRY_PART_CHANGES 8u  /* of each word */
#define AIRY_PART_JUMPS   16u /* likewise */
#define AIRY_PART_UPS     24u /* likewise: at a jump, AIRY_PART_UP from there on */
#define AIRY_PART_HEAD    32u
#define AIRY_PART_WORDS   (AIRY_PART_HEAD + AIRY_FUSED_PART)

typedef struct airy_parts_geom {
    airy_u32 parts, fraction_bits;
} airy_parts_geom;
AIRY_ASSERT_SIZE(airy_parts_geom, 8);

typedef struct airy_fused_geom {
    airy_block_layout layout;
    airy_pixel_test test;
    /* powers of two: fixed point from real */
    double normalization_scale, normalization2_scale, dark_scale;
    airy_u64 bytes_offset;
    airy_u64 words;                     /* place of the words in scratch */
    airy_u64 sums_offset, stats_offset; /* doubles */
    airy_u64 lane_sums;                 /* place in scratch, 64-bit words; 0: there are none */
    airy_u32 bins, span, fraction_bits;
    airy_u32 frames, group_blocks, groups_a_frame;
    airy_u32 all_fast; /* no value below 2^FAST_PLANES is left out or saturated */
    airy_u32 has_dark;
    airy_u32 first_frame;               /* of the batch: its table counts from there */
    airy_u32 first_block, range_blocks; /* whose planes are kept at a time */
    airy_u32 quads; /* kept of a block, four planes each, without a value that is left out or
                       saturated */
} airy_fused_geom;
AIRY_ASSERT_SIZE(airy_fused_geom, 200);

#endif

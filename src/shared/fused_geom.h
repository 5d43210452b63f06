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

#define AIRY_FUSED_TILE 1024u
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
 * Words behind these planes: total (2), max, invalid, saturated, complement of the status, 2
 * unused.
 */
#define AIRY_FUSED_STAT_WORDS 8u

typedef struct airy_fused_geom {
    airy_block_layout layout;
    airy_pixel_test test;
    /* powers of two: fixed point from real */
    double normalization_scale, normalization2_scale, dark_scale;
    airy_u64 bytes_offset;
    airy_u64 words;                     /* place of the words in scratch */
    airy_u64 sums_offset, stats_offset; /* doubles */
    airy_u32 bins, span, fraction_bits;
    airy_u32 frames, group_blocks, groups_a_frame;
    airy_u32 all_fast; /* no value below 2^FAST_PLANES is left out or saturated */
    airy_u32 has_dark;
    airy_u32 first_frame; /* of the batch: its table counts from there */
    airy_u32 reserved;
} airy_fused_geom;
AIRY_ASSERT_SIZE(airy_fused_geom, 184);

#endif

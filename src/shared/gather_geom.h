/* Sums of frames by walking the matrix bin by bin. The same on host and device. */
#ifndef AIRY_SHARED_GATHER_GEOM_H
#define AIRY_SHARED_GATHER_GEOM_H

#include "shared/pixel_test.h"

/*
 * A piece of a bin's row: entries first ... first + count - 1. Rows are cut into pieces of at most
 * GATHER_PIECE entries; a bin's partial sums are added piece by piece, so that the result depends
 * on nothing but the row.
 */
typedef struct airy_gather_piece {
    airy_u32 first, count, bin, reserved;
} airy_gather_piece;
AIRY_ASSERT_SIZE(airy_gather_piece, 16);

/*
 * Scratch of a launch, in doubles: partials [frames][pieces][2] (signal, variance), kept
 * [frames][pieces][5] (normalization, normalization2, count, dark, variance of the entries left,
 * where some are not), then as words gone [frames][pieces] (how many entries are not), then, in
 * doubles again, stats [frames][stat_pieces][2] (total, max) and as words [frames][stat_pieces][2]
 * (invalid, saturated).
 */
typedef struct airy_gather_geom {
    airy_pixel_test test;
    airy_u64 frames_offset; /* elements, to the first frame of this launch */
    airy_u64 sums_offset;   /* doubles, likewise */
    airy_u64 stats_offset;  /* doubles, likewise */
    airy_u64 status_offset; /* words, likewise */
    airy_u64 kept;          /* doubles, in scratch */
    airy_u64 gone;          /* words, in scratch */
    airy_u64 stats;         /* doubles, in scratch */
    airy_u64 counts;        /* words, in scratch */
    airy_u32 pixels, bins, pieces, stat_pieces;
    airy_u32 frames; /* of this launch */
    airy_u32 has_status;
} airy_gather_geom;
AIRY_ASSERT_SIZE(airy_gather_geom, 136);

#endif

/* Labels and measures on a device. The same on host and device. */
#ifndef AIRY_SHARED_LABEL_GEOM_H
#define AIRY_SHARED_LABEL_GEOM_H

#include "shared/scalar.h"

/* Where rows of an image of z, y, x lie, in elements. */
typedef struct airy_label_rows {
    airy_u64 offset, step_z, step_y;
} airy_label_rows;
AIRY_ASSERT_SIZE(airy_label_rows, 24);

#define AIRY_LABEL_IMAGES 16u  /* of a launch, at most */
#define AIRY_LABEL_SLACK  1e-9 /* of the squared box: what moments may be off */

typedef struct airy_label_geom {
    airy_label_rows src, labels;
    airy_u64 src_step, labels_step; /* from an image of a stack to the next, in elements */
    airy_u64 first, span;           /* keys of foreground: from first on, span more */
    airy_u32 width, height, depth;
    airy_u32 words; /* of 32 pixels, a row */
    airy_u32 total; /* words of all rows */
    airy_u32 shift; /* a word has 2^shift nodes */
    airy_u32 tiles_x, tiles_y;
    airy_u32 none;   /* no key is foreground */
    airy_u32 edge;   /* pixels that share an edge (in a plane: a corner) are neighbours */
    airy_u32 corner; /* voxels that share a corner are, too */
    airy_u32 sized;  /* components have to be of min_count to max_count pixels */
    airy_u32 min_count, max_count;
    airy_u32 chunks;   /* of AIRY_LABEL_GROUP words */
    airy_u32 writes;   /* labels of all pixels are wanted */
    airy_u32 capacity; /* labels that the table of parts has room for; 0: no measures */
    airy_u32 runs_at;  /* labels of runs begin behind the nodes of so many words */
    airy_u32 turn;     /* of the answer */
    airy_u32 told;     /* labels of an image whose rows the answer has room for */
    airy_u32 image;    /* the first one of the launch */
    airy_u32 stride;   /* entries from an image's table to the next one's */
    airy_u32 counts[AIRY_LABEL_IMAGES]; /* labels of each, where the host knows */
} airy_label_geom;
AIRY_ASSERT_SIZE(airy_label_geom, 232);

#define AIRY_LABEL_GROUP      256u /* items of a work-group, words of a chunk and of a tile */
#define AIRY_LABEL_TILE_WORDS 4u   /* across */
#define AIRY_LABEL_TILE_ROWS  (AIRY_LABEL_GROUP / AIRY_LABEL_TILE_WORDS)
#define AIRY_LABEL_STATES     2u /* beside those of chunks: the next one, groups that are done */
#define AIRY_LABEL_MERGERS    4u /* items of label_merge that share a word */
#define AIRY_LABEL_MANY       16384u /* labels; of more none is measured by itself */
#define AIRY_LABEL_FEW        512u   /* words of the box of a label that is measured by itself */

/*
 * What is known of a label: whole numbers all, so that the order of additions is no matter. What a
 * minimum is taken of is kept as its complement, so that an entry of zeros is an empty one; tables
 * hold only these between calls, and entry 0 is one always.
 *
 * Sums are those of I 2^-e, of that times u and of that times u u, in units of 2^-b and in two
 * words: wide[i][0] 2^32 + wide[i][1]. u: place in the box by the power of two at or above the
 * box's length. e: of the largest |I|; b: airy_label_bits.
 */
enum {
    AIRY_LABEL_SUM,
    AIRY_LABEL_Z,
    AIRY_LABEL_Y,
    AIRY_LABEL_X,
    AIRY_LABEL_XX,
    AIRY_LABEL_YY,
    AIRY_LABEL_XY,
    AIRY_LABEL_SUMS
};
typedef struct airy_label_part {
    airy_u64 least, most; /* keys of extremes, ~ of least; 0: NaN only */
    airy_u64 place[3];    /* sums of z, y, x */
    airy_u64 wide[AIRY_LABEL_SUMS][2];
    airy_u32 count;
    airy_u32 first[3], last[3]; /* box: z, y, x; ~ of first */
    airy_u32 least_at, most_at; /* pixels in raster order, ~ of these */
    airy_u32 nan;               /* some pixel is NaN */
} airy_label_part;
AIRY_ASSERT_SIZE(airy_label_part, 192);

/*
 * What is made of it on the device, laid out as airy_region; floats by their bits. Of row 0 count is
 * the number of labels, least_at[0] of those not measured yet, [1] of groups of measure_labels that
 * are done.
 */
typedef struct airy_label_row {
    airy_u64 count, sum, mean, least, most;
    airy_u64 least_at[3], most_at[3], first[3], last[3];
    airy_u64 center[3], centroid[3];
    airy_u64 mxx, myy, mxy, a, b, theta;
} airy_label_row;
AIRY_ASSERT_SIZE(airy_label_row, 232);

/*
 * What the last kernel of a call tells the host of an image; its rows follow, all at multiples of
 * AIRY_LABEL_LINE bytes.
 */
typedef struct airy_label_answer {
    airy_u32 turn; /* stored last */
    airy_u32 count;
    airy_u32 left; /* labels that have no row yet */
    airy_u32 unused;
} airy_label_answer;
AIRY_ASSERT_SIZE(airy_label_answer, 16);

#define AIRY_LABEL_LINE 256u /* a row begins where the link's writes do */

/* A double's order as a number, and back. */
static inline airy_u64 airy_label_key(airy_u64 bits)
{
    return bits >> 63 != 0u ? ~bits : bits | (airy_u64)1 << 63;
}

static inline airy_u64 airy_label_unkey(airy_u64 key)
{
    return key >> 63 != 0u ? key & ~((airy_u64)1 << 63) : ~key;
}

/* The exponent field of the larger one in size. */
static inline airy_u32 airy_label_exponent(const airy_u64 least, const airy_u64 most)
{
    const airy_u32 a = (airy_u32)(airy_label_unkey(least) >> 52) & 2047u,
                   b = (airy_u32)(airy_label_unkey(most) >> 52) & 2047u;
    return a > b ? a : b;
}

/* The smallest k with 2^k >= n, n >= 1. */
static inline airy_u32 airy_label_log2(airy_u32 n)
{
    airy_u32 k = 0u;
    while (k < 32u && (airy_u64)1 << k < n)
        k++;
    return k;
}

/*
 * b, by the number of pixels: n 2^b stays below 2^94, so that neither the high words (2^62) nor the
 * low ones (n 2^32) overflow.
 */
static inline airy_u32 airy_label_bits(airy_u32 count)
{
    return 94u - airy_label_log2(count);
}

#endif

/* OCT on a device: arguments of kernels/oct.cl and kernels/oct_frames.cl. The same on host and device. */
#ifndef AIRY_SHARED_OCT_LINES_GEOM_H
#define AIRY_SHARED_OCT_LINES_GEOM_H

#include "shared/scalar.h"

/* Pieces of the table, in units of 16 bytes from its start. */
#define AIRY_OCT_AT_ENTRIES  0 /* where a line is read, with which weights */
#define AIRY_OCT_AT_TAPS     1 /* weights from the third on: pairs of floats, [pair][samples] */
#define AIRY_OCT_AT_OFFSETS  2 /* floats: what is subtracted, of entries that do not have it */
#define AIRY_OCT_AT_PHASORS  3 /* complex: what samples are multiplied with */
#define AIRY_OCT_AT_TWIST    4 /* complex: factors of the second step, then of the third */
#define AIRY_OCT_AT_BACK     5 /* the same of the transform back */
#define AIRY_OCT_AT_SPECTRUM 6 /* complex, [bin]: the transformed chirp */
#define AIRY_OCT_AT_CHIRP    7 /* complex, [bin]: what bins are multiplied with */
#define AIRY_OCT_PIECES      8

/* Entries. base: of the first tap. */
#define AIRY_OCT_FORM_TAPS     0 /* base, offset, weights of two taps */
#define AIRY_OCT_FORM_FRACTION 1 /* base and fraction in a word, weight; complex: offset, weight */
#define AIRY_OCT_FORM_IN_PLACE 2 /* weight, offset: sample j itself */

/* Bits of the fraction below the base. */
#define AIRY_OCT_FRACTION_BITS 21

/* Entries and offsets of FRACTION, of pairs of lines: an item's, these many behind each other. */
#define AIRY_OCT_ENTRIES_TOGETHER 2u
#define AIRY_OCT_OFFSETS_TOGETHER 4u

/* Where the one of element j is: of item j mod items. */
static inline airy_u32 airy_oct_place(airy_u32 j, airy_u32 items, airy_u32 together)
{
    const airy_u32 m = j / items;
    return (m / together * items + j % items) * together + m % together;
}

typedef struct airy_oct_lines_geom {
    airy_u64 src_offset; /* bytes */
    airy_u64 dst_offset; /* elements */
    airy_u64 mean_offset;
    airy_u64 line_bytes;          /* of a raw line */
    airy_u32 at[AIRY_OCT_PIECES]; /* of the table */
    airy_u32 block_lines, tiles;  /* lines of a block; sets of lines that cover it */
    airy_u32 sets;                /* of all blocks */
    airy_u32 lines;               /* of a frame */
    airy_u32 flip;                /* bit 0: frames 0, 2, ... are reversed; bit 1: the others */
    airy_u32 rolling;             /* half of the window of the rolling mean */
    airy_u32 depth_first, depth;  /* bins */
    airy_u32 magic;               /* 2^23 as a float: an argument is an operand for nothing */
    float least;                  /* added to |F|^2 in front of the logarithm */
    float gain, bias;             /* result = quantity gain + bias */
    float top;                    /* of integers */
    airy_u32 reserved;
} airy_oct_lines_geom;
AIRY_ASSERT_SIZE(airy_oct_lines_geom, 120);

typedef struct airy_oct_mean_geom {
    airy_u64 src_offset; /* bytes */
    airy_u64 line_bytes;
    airy_u64 dst_offset;        /* elements */
    airy_u32 lines;             /* of a frame */
    airy_u32 part_lines, parts; /* of a frame: lines that one item adds up */
    airy_u32 samples, taps;
    airy_u32 chunks; /* groups along a line */
} airy_oct_mean_geom;
AIRY_ASSERT_SIZE(airy_oct_mean_geom, 48);

typedef struct airy_oct_combine_geom {
    airy_u64 src_offset, dst_offset; /* elements */
    airy_u32 out_lines, depth;       /* of the result */
    airy_u32 lines;                  /* of a frame of src */
    airy_u32 average_lines, average_frames;
    airy_u32 repeat_lines, repeat_frames; /* repeats of flow: one of them is 1 */
    airy_u32 chunks;                      /* groups along a line */
    float scale, offset, top;
    airy_u32 reserved;
} airy_oct_combine_geom;
AIRY_ASSERT_SIZE(airy_oct_combine_geom, 64);

#endif

/* Convolution by transforms on a device. The same on host and device. */
#ifndef AIRY_SHARED_TRANSFORM_GEOM_H
#define AIRY_SHARED_TRANSFORM_GEOM_H

#include "shared/border_index.h"

/*
 * Tiles of length[0] x length[1] x length[2] elements, of which a pair is the real and the imaginary
 * part of one; block[]: results of a tile, blocks[]: tiles of an image, along z, y, x. Result i along
 * an axis is the sum over j < taps of weight j times the element i + offset - (taps - 1) + j.
 */
typedef struct airy_transform_geom {
    airy_i64 src_offset, dst_offset;
    airy_i64 src_step[3], dst_step[3]; /* image, z, y */
    airy_i64 n[3], out[3], offset[3];
    airy_u32 tiles;        /* of all images */
    airy_u32 first, pairs; /* of this launch */
    airy_u32 taps[3];
    airy_u32 length[3], block[3], blocks[3];
    airy_u32 border;
    airy_u32 axis;    /* 0, 1: of a pass along z or y */
    airy_u32 factors; /* exp(-2 pi i k / factors) for all k below, then the kernel's weights */
} airy_transform_geom;
AIRY_ASSERT_SIZE(airy_transform_geom, 208);

/* Elements of a transform that an item has. */
#define AIRY_TRANSFORM_EACH 8u
/* Elements of local memory for a line of n: every ninth is left out, for the banks. */
#define AIRY_TRANSFORM_ROOM(n) ((n) + (n) / 8u + 1u)

#endif

/* Where a batch's frames go on the device. The same on host and device. */
#ifndef AIRY_SHARED_DECODE_GEOM_H
#define AIRY_SHARED_DECODE_GEOM_H

#include "shared/block_layout.h"

/*
 * layout.codec, for kernels, which do not see enum airy_codec; cl_decode.c asserts that they agree.
 */
#define AIRY_LAYOUT_BSLZ4 1u
#define AIRY_LAYOUT_LZ4   2u
#define AIRY_LAYOUT_BSHUF 3u

typedef struct airy_decode_geom {
    airy_block_layout layout;
    airy_u64 bytes_offset;   /* bytes from the start of the buffer to the batch */
    airy_u64 frames_offset;  /* likewise to the first frame of this launch */
    airy_u64 scratch_stride; /* bytes between blocks in scratch, a multiple of 16; large blocks
                                only */
    airy_u32 status_offset;  /* words */
    airy_u32 first_frame;    /* of the batch: table and status count from it */
    airy_u32 frames;         /* of this launch */
    airy_u32 reserved;
} airy_decode_geom;
AIRY_ASSERT_SIZE(airy_decode_geom, 80);

#endif

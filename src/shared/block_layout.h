/*
 * How a frame is cut into blocks, and where each block's bytes lie in a batch. The same on host
 * and device.
 *
 * A frame has `blocks` blocks: full_blocks of block_bytes, then one of last_bytes (if not 0), then
 * a verbatim one of tail_bytes (if not 0: up to 7 elements that bitshuffle leaves alone). Block b
 * of a frame starts at pixel byte b * block_bytes, except that the tail starts behind the last
 * block.
 */
#ifndef AIRY_SHARED_BLOCK_LAYOUT_H
#define AIRY_SHARED_BLOCK_LAYOUT_H

#include "shared/scalar.h"

typedef struct airy_block_layout {
    airy_u64 frame_bytes;
    airy_u32 codec;       /* airy_codec: none, bslz4, lz4, bshuf */
    airy_u32 elem_size;   /* of the bit transpose, bytes */
    airy_u32 block_bytes; /* decoded */
    airy_u32 full_blocks;
    airy_u32 last_bytes;
    airy_u32 tail_bytes;
    airy_u32 blocks;
    airy_u32 reserved;
} airy_block_layout;
AIRY_ASSERT_SIZE(airy_block_layout, 40);

/* offset: bytes from the start of the batch buffer (table included). */
typedef struct airy_block {
    airy_u32 offset;
    airy_u32 size; /* compressed bytes, or flags below */
} airy_block;
AIRY_ASSERT_SIZE(airy_block, 8);

#define AIRY_BLOCK_STORED                                                                          \
    0x80000000u /* or'ed to the size: the bytes are decoded pixels, to be
                                         copied */
#define AIRY_BLOCK_ABSENT                                                                          \
    0xffffffffu /* as size: the frame could not be read; reported as
                                         AIRY_REASON_ABSENT */

/*
 * Why a block does not decode: low 3 bits of a frame's status, the block's number above. Lowest
 * block wins. For each LZ4 sequence, in this order: TOKEN when there is no token or the literals'
 * length does not end; LITERAL when they are more than the bytes left or than the block still
 * takes; once copied, with the block full: good when nothing is left, else LONG; with nothing
 * left: SHORT; TOKEN when fewer than 2 bytes are left; OFFSET; TOKEN when the match's length does
 * not end; MATCH.
 */
#define AIRY_REASON_ABSENT  0u /* not read */
#define AIRY_REASON_TOKEN   1u /* compressed bytes end inside a sequence */
#define AIRY_REASON_LITERAL 2u /* literals leave the compressed bytes or the block */
#define AIRY_REASON_OFFSET  3u /* match offset is 0 or before the start of the block */
#define AIRY_REASON_MATCH   4u /* match leaves the block */
#define AIRY_REASON_SHORT   5u /* block ends early */
#define AIRY_REASON_LONG    6u /* bytes are left over behind the last sequence */
#define AIRY_REASON_SIZE    7u /* a stored block of the wrong size */
#define AIRY_STATUS_GOOD    0xffffffffu

/*
 * Device memory of a block in the making. Behind the block's own bytes there is room for the
 * compressed bytes to be kept at the end and for the output to stay AIRY_STAGE_DISTANCE behind what
 * is read of them: a sequence of a sound block takes more bytes than it makes only by what its
 * literals' length takes, one in 255, and the last one by its token; up to 15 bytes are lost to
 * alignment, and AIRY_STAGE_BEHIND may be read behind the last one. Then what the lanes share.
 */
#define AIRY_STAGE_DISTANCE 40u
#define AIRY_STAGE_BEHIND   32u
#define AIRY_STAGE_MARGIN   128u
#define AIRY_STEP_BYTES     32u

static inline airy_u32 airy_block_decoded_bytes(const airy_block_layout l, airy_u32 block)
{
    if (block < l.full_blocks)
        return l.block_bytes;
    return block == l.full_blocks && l.last_bytes ? l.last_bytes : l.tail_bytes;
}

/* First pixel byte of a block within its frame. */
static inline airy_u64 airy_block_start(const airy_block_layout l, airy_u32 block)
{
    if (block <= l.full_blocks)
        return (airy_u64)block * l.block_bytes;
    return (airy_u64)l.full_blocks * l.block_bytes + l.last_bytes;
}

/* True for the blocks that go through LZ4 and the bit transpose; false for the verbatim tail. */
static inline int airy_block_is_coded(const airy_block_layout l, airy_u32 block)
{
    return !(l.tail_bytes != 0 && block == l.blocks - 1);
}

#endif

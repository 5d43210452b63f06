/*
 * Compressed frames to native pixels, the general way: elements and blocks of any size, plain LZ4.
 * Slower than decode.cl, which has the common cases.
 *
 * Build options: LANES (lz4_block.h). Local memory: 32 bytes.
 */
#define BLOCK_SPACE __global
#include "opencl/kernels/lz4_block.h"
#include "shared/decode_geom.h"

/*
 * LZ4 to where the planes or the pixels belong: scratch where a transpose follows, the frame where
 * none does.
 * Mapping: LANES items, which is exact, a block. Barriers: of the work-group.
 */
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void
decode_large_blocks(__global const uchar *bytes, __global uchar *frames, __global uchar *scratch,
                    __global uint *status, const airy_decode_geom g)
{
    __local uint step[STEP_WORDS];
    const uint lane = get_local_id(0);
    const ulong index = get_group_id(0);
    const uint frame = (uint)(index / g.layout.blocks), block = (uint)(index % g.layout.blocks);
    __global const airy_block *table = (__global const airy_block *)(bytes + g.bytes_offset);
    const airy_block place = table[(ulong)(g.first_frame + frame) * g.layout.blocks + block];
    const uint size = airy_block_decoded_bytes(g.layout, block);
    const ulong from = g.bytes_offset + place.offset;
    __global uchar *dst = frames + g.frames_offset + frame * g.layout.frame_bytes +
                          airy_block_start(g.layout, block);

    uint reason = AIRY_STATUS_GOOD;
    if (place.size == AIRY_BLOCK_ABSENT) {
        reason = AIRY_REASON_ABSENT;
    } else if ((place.size & AIRY_BLOCK_STORED) != 0u || g.layout.codec == AIRY_LAYOUT_BSHUF) {
        const bool stored = (place.size & AIRY_BLOCK_STORED) != 0u;
        if ((place.size & ~AIRY_BLOCK_STORED) != size)
            reason = AIRY_REASON_SIZE;
        else
            for (uint i = lane; i < size; i += LANES)
                (stored ? dst : scratch + index * g.scratch_stride)[i] = bytes[from + i];
    } else if (g.layout.codec == AIRY_LAYOUT_LZ4) {
        /* Words are counted from an aligned address, wherever the block starts. */
        const uint begin = (uint)((ulong)dst & 15u);
        reason = decode_lz4(dst - begin, begin, size, bytes, from, place.size, lane, step);
    } else {
        reason = decode_lz4(scratch + index * g.scratch_stride, 0u, size, bytes, from, place.size,
                            lane, step);
    }
    if (reason != AIRY_STATUS_GOOD && lane == 0u)
        atomic_min(status + g.status_offset + g.first_frame + frame, block << 3 | reason);
}

/*
 * The bit transpose of coded blocks, from scratch to the frame. Planes of a block that did not
 * decode are whatever they are: inside scratch.
 * Mapping: a work-group of any size a block; an item takes 8 elements of one of their bytes at a
 *          time. No local memory, no barrier.
 */
__kernel void unshuffle_large_blocks(__global const uchar *bytes, __global uchar *frames,
                                     __global const uchar *scratch, const airy_decode_geom g)
{
    const ulong index = get_group_id(0);
    const uint frame = (uint)(index / g.layout.blocks), block = (uint)(index % g.layout.blocks);
    __global const airy_block *table = (__global const airy_block *)(bytes + g.bytes_offset);
    if ((table[(ulong)(g.first_frame + frame) * g.layout.blocks + block].size &
         AIRY_BLOCK_STORED) != 0u)
        return;
    const uint elem_size = g.layout.elem_size;
    const uint pieces = airy_block_decoded_bytes(g.layout, block) / elem_size / 8u;
    __global const uchar *planes = scratch + index * g.scratch_stride;
    __global uchar *dst = frames + g.frames_offset + frame * g.layout.frame_bytes +
                          airy_block_start(g.layout, block);
    for (uint at = get_local_id(0); at < pieces * elem_size; at += get_local_size(0)) {
        const uint byte = at / pieces, piece = at % pieces;
        ulong m = 0u;
        for (uint i = 0u; i < 8u; i++)
            m |= (ulong)planes[(byte * 8u + i) * pieces + piece] << (8u * i);
        m = transpose_8x8(m);
        for (uint i = 0u; i < 8u; i++)
            dst[(piece * 8u + i) * elem_size + byte] = (uchar)(m >> (8u * i));
    }
}

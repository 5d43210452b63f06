/*
 * Compressed frames to native pixels: blocks of up to BLOCK_BYTES bytes, decoded in local memory.
 *
 * Build options: ELEM_SIZE 1, 2, 4 or 8; BLOCK_BYTES, a multiple of 1024 that no block exceeds;
 *                LANES, BLOCKS (lz4_block.h).
 *
 * Mapping: LANES work-items a block, BLOCKS blocks a work-group of LANES * BLOCKS items, which is
 * exact; blocks are counted frame by frame. Local memory: BLOCKS * (BLOCK_STORE + 32) bytes.
 * Barriers: of the lanes of a block only.
 */
#include "opencl/kernels/lz4_block.h"
#include "shared/decode_geom.h"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4
#endif

#define PLANES (8u * ELEM_SIZE)
#define WORDS  (8u * ELEM_SIZE) /* of 32 pixels */
#define QUADS  (WORDS / 4u)
/*
 * Rows of 32 pixels that lie one on another before the 16-byte slots of neighbouring lanes collide
 * in local memory.
 */
#define ROWS_A_LANE (WORDS > 32u ? WORDS / 32u : 1u)

#if ELEM_SIZE == 1
#define ELEM uchar
#elif ELEM_SIZE == 2
#define ELEM ushort
#elif ELEM_SIZE == 4
#define ELEM uint
#else
#define ELEM ulong
#endif

#if LANES == 32 && BLOCK_BYTES / ELEM_SIZE % 1024 == 0
#define EVEN_LANES /* 32 lanes share out the words of a full block's planes evenly */
#endif

#if ELEM_SIZE == 4 && !defined(LANES_ARE_A_GROUP)
#define ALIKE_PLANES
/* All bits of pixel i's word above `low` planes are those of plane word u. */
#ifdef AIRY_BYTES /* a digit above 7: the byte's sign 8 times */
#define EXTEND(x, selector, u, i) AIRY_BYTES(x, (u) << (31u - (i)), selector)
#else
#define EXTEND(x, selector, u, i)                                                                  \
    (((x) >> ((selector) % 4u * 8u) & ((selector) >= 0xfff0u ? 0xffu : 0xffffu)) |                 \
     (((u) >> (i)&1u) == 0u   ? 0u                                                                 \
      : (selector) >= 0xfff0u ? 0xffffff00u                                                        \
                              : 0xffff0000u))
#endif

/* Counts of 8 or 16 bits and pixels of all ones: the same with upper planes that are alike. */
AIRY_INLINE void pixels_of_8_planes(uint *y, uint *x)
{
    const uint u = x[31];
    TRANSPOSE_8(x)
#pragma unroll
    for (uint i = 0u; i < 32u; i++)
        y[i] = EXTEND(x[i & 7u], 0xfff0u + i / 8u, u, i);
}

AIRY_INLINE void pixels_of_16_planes(uint *y, uint *x)
{
    const uint u = x[31];
    TRANSPOSE_16(x)
#pragma unroll
    for (uint i = 0u; i < 16u; i++) {
        y[i] = EXTEND(x[i], 0xff10u, u, i);
        y[16u + i] = EXTEND(x[i], 0xff32u, u, 16u + i);
    }
}
#endif

/* The planes' words x of 32 pixels to the pixels' words y, in memory order. */
AIRY_INLINE void pixels_of_planes(uint *y, uint *x)
{
#if ELEM_SIZE == 1
    TRANSPOSE_8(x)
#pragma unroll
    for (uint q = 0u; q < 4u; q++) {
#pragma unroll
        for (uint h = 0u; h < 2u; h++)
            y[2u * q + h] = (x[4u * h] >> (8u * q) & 0xffu) |
                            (x[4u * h + 1u] >> (8u * q) & 0xffu) << 8 |
                            (x[4u * h + 2u] >> (8u * q) & 0xffu) << 16 |
                            (x[4u * h + 3u] >> (8u * q)) << 24;
    }
#elif ELEM_SIZE == 2
    TRANSPOSE_16(x)
#pragma unroll
    for (uint i = 0u; i < 8u; i++) {
        y[i] = (x[2u * i] & 0xffffu) | x[2u * i + 1u] << 16;
        y[8u + i] = x[2u * i] >> 16 | (x[2u * i + 1u] & 0xffff0000u);
    }
#elif ELEM_SIZE == 4
    TRANSPOSE_32(x)
#pragma unroll
    for (uint i = 0u; i < 32u; i++)
        y[i] = x[i];
#else
    TRANSPOSE_32(x)
    TRANSPOSE_32((x + 32))
#pragma unroll
    for (uint i = 0u; i < 32u; i++) {
        y[2u * i] = x[i];
        y[2u * i + 1u] = x[32u + i];
    }
#endif
}

#ifdef EVEN_LANES
#define ROW_WORDS  (BLOCK_BYTES / ELEM_SIZE / 32u) /* of a plane */
#define TILE_WORDS (32u * WORDS)                   /* of 1,024 pixels */

/*
 * Where word j of the pixels of 1,024 is kept: rows of 32 words, in which the quads are permuted
 * so that neither writing a lane's own pixels nor reading neighbouring quads has bank conflicts.
 */
AIRY_INLINE uint tile_place(uint j)
{
    const uint row = j >> 5, slot = (j >> 2 & 7u) ^ (row / ROWS_A_LANE & 7u);
    return row * ROW_WORDS + slot * 4u + (j & 3u);
}

/* 1,024 pixels by neighbouring words, pairs or quads of words. */
#define STORE_TILE(type, count, dst, tile)                                                         \
    {                                                                                              \
        __global type *to_ = (__global type *)(dst);                                               \
        _Pragma("unroll 8") for (uint i_ = 0u; i_ < WORDS / (count); i_++)                         \
        {                                                                                          \
            const uint at_ = i_ * 32u + lane;                                                      \
            to_[at_] = *(__local const type *)((tile) + tile_place(at_ * (count)));                \
        }                                                                                          \
    }

AIRY_INLINE uint block_word(__local const uint *words, uint j)
{
    return words[j / TILE_WORDS * 32u + tile_place(j % TILE_WORDS)];
}

/* A full block of pixels to any address: whole words between its first and last bytes. */
AIRY_INLINE void store_unaligned(__global uchar *dst, __local const uint *words, uint lane)
{
    const uint head = (0u - (uint)(ulong)dst) & 3u, shift = head * 8u;
    __global uint *to = (__global uint *)(dst + head);
    ROLLED
    for (uint i = lane; i < BLOCK_BYTES / 4u - 1u; i += 32u)
        to[i] = (uint)(((ulong)block_word(words, i + 1u) << 32 | block_word(words, i)) >> shift);
    const uint rest = BLOCK_BYTES - 4u + lane;
    if (lane < head)
        dst[lane] = (uchar)(block_word(words, 0u) >> (8u * lane));
    else if (lane < 4u)
        dst[rest] = (uchar)(block_word(words, BLOCK_BYTES / 4u - 1u) >> (8u * lane));
}

/*
 * A full block of planes whose words 32 lanes share out evenly. The pixels go back to where their
 * planes' words were read, so that neighbouring lanes then store neighbouring words, as wide as
 * the frame's place in memory allows: a lane's own 32 pixels are up to 256 bytes apart from the
 * next lane's.
 */
AIRY_INLINE void unshuffle_full(__global uchar *dst, __local uchar *block, uint lane,
                                __local uint *step)
{
    __local uint *words = (__local uint *)block;
    const uint skew = (uint)(ulong)dst & 15u;
    ROLLED
    for (uint t = 0u; t < ROW_WORDS; t += 32u) {
        __local uint *tile = words + t;
        uint x[PLANES], y[WORDS];
#pragma unroll
        for (uint p = 0u; p < PLANES; p++)
            x[p] = tile[p * ROW_WORDS + lane];
#ifdef ALIKE_PLANES
        uint above_8 = 0u, above_16 = 0u;
#pragma unroll
        for (uint p = 16u; p < 31u; p++)
            above_16 |= x[p] ^ x[31];
#pragma unroll
        for (uint p = 8u; p < 16u; p++)
            above_8 |= x[p] ^ x[31];
        if (lanes_any(above_16 != 0u, lane, step))
            pixels_of_planes(y, x);
        else if (lanes_any(above_8 != 0u, lane, step))
            pixels_of_16_planes(y, x);
        else
            pixels_of_8_planes(y, x);
#else
        (void)step;
        pixels_of_planes(y, x);
#endif
        LANES_SYNC();
#pragma unroll
        for (uint i = 0u; i < QUADS; i++)
            *(__local uint4 *)(tile + tile_place((lane * QUADS + i) * 4u)) =
                (uint4)(y[4u * i], y[4u * i + 1u], y[4u * i + 2u], y[4u * i + 3u]);
        LANES_SYNC();
        __global uchar *to = dst + t * WORDS * 4u;
        if (skew == 0u)
            STORE_TILE(uint4, 4u, to, tile)
        else if ((skew & 7u) == 0u)
            STORE_TILE(uint2, 2u, to, tile)
        else if ((skew & 3u) == 0u)
            STORE_TILE(uint, 1u, to, tile)
    }
    if ((skew & 3u) != 0u)
        store_unaligned(dst, words, lane);
}

/* A block of any size: 8 pixels a lane at a time, one of their bytes. */
AIRY_INLINE void unshuffle_any(__global uchar *dst, __local const uchar *block, uint size,
                               uint lane)
{
    const uint pieces = size / ELEM_SIZE / 8u;
    ROLLED
    for (uint at = lane; at < pieces * ELEM_SIZE; at += LANES) {
        const uint byte = at % ELEM_SIZE, piece = at / ELEM_SIZE;
        ulong m = 0u;
        for (uint i = 0u; i < 8u; i++)
            m |= (ulong)block[(byte * 8u + i) * pieces + piece] << (8u * i);
        m = transpose_8x8(m);
        for (uint i = 0u; i < 8u; i++)
            dst[(piece * 8u + i) * ELEM_SIZE + byte] = (uchar)(m >> (8u * i));
    }
}
#else
/*
 * 32 pixels, of which the first `count` exist, to an address that may have an element's alignment
 * only.
 */
AIRY_INLINE void store_pixels(__global uchar *dst, const uint *y, uint count)
{
    if (count == 32u && ((ulong)dst & 15u) == 0u) {
        __global uint4 *out = (__global uint4 *)dst;
#pragma unroll
        for (uint i = 0u; i < QUADS; i++)
            out[i] = (uint4)(y[4u * i], y[4u * i + 1u], y[4u * i + 2u], y[4u * i + 3u]);
        return;
    }
    __global ELEM *out = (__global ELEM *)dst;
#pragma unroll
    for (uint i = 0u; i < 32u; i++) {
#if ELEM_SIZE == 8
        const ulong v = (ulong)y[2u * i + 1u] << 32 | y[2u * i];
#else
        const uint v = y[i * ELEM_SIZE / 4u] >> (i * ELEM_SIZE % 4u * 8u);
#endif
        if (i < count)
            out[i] = (ELEM)v;
    }
}

/* A block of any size, 32 pixels a lane at a time, straight to memory. */
AIRY_INLINE void unshuffle_any(__global uchar *dst, __local const uchar *block, uint size,
                               uint lane)
{
    const uint elements = size / ELEM_SIZE, plane_bytes = elements / 8u,
               groups = (elements + 31u) / 32u;
    for (uint w = lane; w < groups; w += LANES) {
        uint x[PLANES], y[WORDS];
#pragma unroll
        for (uint p = 0u; p < PLANES; p++)
            x[p] = plane_word(block, p, plane_bytes, w);
        pixels_of_planes(y, x);
        store_pixels(dst + w * 32u * ELEM_SIZE, y, min(32u, elements - w * 32u));
    }
}
#endif

/* `size` bytes as they are. */
AIRY_INLINE void copy_bytes(__global uchar *dst, __global const uchar *src, uint size, uint lane)
{
    ROLLED
    for (uint i = lane; i < size; i += LANES)
        dst[i] = src[i];
}

__kernel __attribute__((reqd_work_group_size(LANES * BLOCKS, 1, 1))) void
decode_blocks(__global const uchar *bytes, __global uchar *frames, __global uint *status,
              const airy_decode_geom g)
{
    __local uint4 store[BLOCKS][BLOCK_STORE / 16];
    __local uint steps[BLOCKS][STEP_WORDS];
    const uint slot = get_local_id(0) / LANES, lane = get_local_id(0) % LANES;
    /* A batch is below 4 GiB, and so are its blocks. */
    const uint index = (uint)get_group_id(0) * BLOCKS + slot;
    if (index >= g.layout.blocks * g.frames)
        return;
    const uint frame = index / g.layout.blocks, block = index % g.layout.blocks;
    /* An airy_block at once: its size is looked at first, and would be waited for twice. */
    __global const uint2 *table = (__global const uint2 *)(bytes + g.bytes_offset);
    const uint2 entry = table[(ulong)(g.first_frame + frame) * g.layout.blocks + block];
    const airy_block place = {entry.x, entry.y};
    const uint size = airy_block_decoded_bytes(g.layout, block);
    const ulong from = g.bytes_offset + place.offset;
    __global uchar *dst = frames + g.frames_offset + frame * g.layout.frame_bytes +
                          airy_block_start(g.layout, block);
    __local uchar *out = (__local uchar *)store[slot];

    uint reason = AIRY_STATUS_GOOD;
    bool shuffled = false;
    if (place.size == AIRY_BLOCK_ABSENT) {
        reason = AIRY_REASON_ABSENT;
    } else if ((place.size & AIRY_BLOCK_STORED) != 0u) {
        if ((place.size & ~AIRY_BLOCK_STORED) == size)
            copy_bytes(dst, bytes + from, size, lane);
        else
            reason = AIRY_REASON_SIZE;
    } else if (g.layout.codec == AIRY_LAYOUT_BSLZ4) {
        reason = decode_lz4(out, 0u, size, bytes, from, place.size, lane, steps[slot]);
        shuffled = reason == AIRY_STATUS_GOOD;
    } else if (place.size == size) {
        copy_literals(out, 0u, bytes, from, size, lane);
        LANES_SYNC();
        shuffled = true;
    } else {
        reason = AIRY_REASON_SIZE;
    }
    if (shuffled) {
#ifdef EVEN_LANES
        if (size == BLOCK_BYTES)
            unshuffle_full(dst, out, lane, steps[slot]);
        else
#endif
            unshuffle_any(dst, out, size, lane);
    }
    if (reason != AIRY_STATUS_GOOD && lane == 0u)
        atomic_min(status + g.status_offset + g.first_frame + frame, block << 3 | reason);
}

/*
 * Convolution, all taps at once.
 *
 * Build options beside those of filter_line.h: TAPS_X: taps along x, 16 for more (in blocks of 16,
 * the last one shorter); ROWS: rows of results that an item makes.
 */
#ifndef VL
#define VL 4
#endif
#define PADDED (VL != 4) /* items beside each other read float units beside each other */

#include "opencl/kernels/filter_line.h"

#ifndef TAPS_X
#define TAPS_X 16
#endif
#ifndef ROWS
#define ROWS 4
#endif

#define QUAD   4
#define BLOCK  16
#define ACROSS 16                                               /* items of a row */
#define HIGH   (GROUP / ACROSS * ROWS)                          /* rows of results of a group */
#define WIDE   64                                               /* columns of results of a group */
#define PITCH  (PADDED ? (WIDE + BLOCK) * 9 / 8 : WIDE + BLOCK) /* of the tile, in elements */
#define UNITS  ((QUAD + TAPS_X - 1 + VL - 1) / VL)              /* of a row that an item looks at */

/* What an item looks at of a row. */
AIRY_INLINE void load_row(W *at, __local const V *row, uint across)
{
#pragma unroll
    for (uint k = 0u; k < UNITS; k++) {
        const V v = row[padded_unit(across * (QUAD / VL) + k)];
        at[k * VL] = v.s0;
        at[k * VL + 1u] = v.s1;
#if VL == 4
        at[k * VL + 2u] = v.s2;
        at[k * VL + 3u] = v.s3;
#endif
    }
}

/*
 * Mapping: 16 items across with 4 results each, GROUP / 16 down with ROWS each. Local memory: the
 * elements under a block of 16 x 16 taps, and its weights: 18 KiB of float with groups of 128 and 4
 * rows, 25 KiB of double with 2. Barriers: two a block.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_direct(__global const T *src, WEIGHTS, __global W *dst, W outside,
                const airy_filter_geom g)
{
    __local V tile[(HIGH + BLOCK - 1) * (PITCH / VL)];
    __local V table[BLOCK * BLOCK / VL];
    const uint item = get_local_id(0), across = item % ACROSS, down = item / ACROSS * ROWS;
    const uint strip = get_group_id(0) % g.strips, rest = get_group_id(0) / g.strips,
               plane = rest / g.segments;
    const long image = (long)(plane / (uint)g.out[0]), z = (long)(plane % (uint)g.out[0]);
    const long x0 = (long)strip * WIDE, y0 = (long)(rest % g.segments) * HIGH;
    __global const T *from = src + g.src_offset + image * g.src_step[0];
    W sum[ROWS][QUAD];
#pragma unroll
    for (uint s = 0u; s < ROWS; s++)
#pragma unroll
        for (uint k = 0u; k < QUAD; k++)
            sum[s][k] = (W)0;
    for (uint c = 0u; c < g.taps[0]; c++)
        for (uint b0 = 0u; b0 < g.taps[1]; b0 += BLOCK)
            for (uint a0 = 0u; a0 < g.taps[2]; a0 += BLOCK) {
                const uint taps_y = min(g.taps[1] - b0, (uint)BLOCK),
                           taps_x = TAPS_X < BLOCK ? TAPS_X : min(g.taps[2] - a0, (uint)BLOCK);
                barrier(CLK_LOCAL_MEM_FENCE);
                stage((__local W *)tile, PITCH, HIGH + taps_y - 1u, WIDE + taps_x - 1u, from,
                      z + g.offset[0] - (long)(g.taps[0] - 1u) + (long)c,
                      y0 + g.offset[1] - (long)(g.taps[1] - 1u) + (long)b0,
                      x0 + g.offset[2] - (long)(g.taps[2] - 1u) + (long)a0, outside, &g);
                for (uint i = item; i < BLOCK * taps_y; i += GROUP) {
                    const uint a = i % BLOCK, b = i / BLOCK;
                    if (a < taps_x)
                        ((__local W *)table)[i] =
                            WEIGHT(((c * g.taps[1] + b0 + b) * g.taps[2]) + a0 + a);
                }
                AIRY_FETCHED();
                barrier(CLK_LOCAL_MEM_FENCE);
                /* Row i of the tile counts in row s of the results with row i - s of the taps. */
                W w[ROWS][BLOCK];
                for (uint i0 = 0u; i0 < taps_y + ROWS - 1u; i0 += ROWS) {
#pragma unroll
                    for (uint u = 0u; u < ROWS; u++) {
                        const uint i = i0 + u;
                        W at[UNITS * VL];
                        if (i < taps_y) {
#pragma unroll
                            for (uint k = 0u; k < (TAPS_X + VL - 1) / VL; k++) {
                                const V v = table[i * (BLOCK / VL) + k];
                                w[u][k * VL] = v.s0;
                                w[u][k * VL + 1u] = v.s1;
#if VL == 4
                                w[u][k * VL + 2u] = v.s2;
                                w[u][k * VL + 3u] = v.s3;
#endif
                            }
                        }
                        if (i < taps_y + ROWS - 1u)
                            load_row(at, tile + (down + i) * (PITCH / VL), across);
#pragma unroll
                        for (uint s = 0u; s < ROWS; s++)
                            if (i - s < taps_y) {
#pragma unroll
                                for (uint j = 0u; j < TAPS_X; j++)
                                    if (TAPS_X < BLOCK || j < taps_x) {
#pragma unroll
                                        for (uint k = 0u; k < QUAD; k++)
                                            sum[s][k] = fma(w[(u + ROWS - s) % ROWS][j], at[j + k],
                                                            sum[s][k]);
                                    }
                            }
                    }
                }
            }
    /* Through local memory, so that items beside each other write beside each other. */
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint s = 0u; s < ROWS; s++)
#pragma unroll
        for (uint k = 0u; k < QUAD; k++)
            ((__local W *)tile)[(down + s) * PITCH + padded(across * QUAD + k)] = sum[s][k];
    barrier(CLK_LOCAL_MEM_FENCE);
    __global W *to = dst + g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] +
                     y0 * g.dst_step[2] + x0;
    const uint high = (uint)min((long)HIGH, g.out[1] - y0);
    for (uint i = item % WIDE; i < (uint)min((long)WIDE, g.out[2] - x0); i += WIDE)
        for (uint y = item / WIDE; y < high; y += GROUP / WIDE)
            to[(long)y * g.dst_step[2] + i] = ((__local W *)tile)[y * PITCH + padded(i)];
}

/*
 * Convolution, all taps at once, where their numbers are build options, all else is one plane and
 * the weights go by value: loops vanish, and weights are operands.
 *
 * Build options beside those of filter_line.h: TAPS_X, TAPS_Y: taps, at most 16; ROWS: of
 * results that an item makes, VL of each; SHIFT: elements from the beginning of a unit of 16 bytes
 * to the first that a row of a group looks at, where rows of the source begin at units.
 */
#ifndef VL
#define VL 4
#endif
#ifndef TAPS_X
#define TAPS_X 15u
#define TAPS_Y 15u
#define TABLE  256
#define GROUP  256
#endif
#ifndef ROWS
#define ROWS 3
#endif
#define PADDED 0

#include "opencl/kernels/filter_line.h"

#ifdef SHIFT
#define FIRST SHIFT
#else
#define FIRST 0
#endif

#define WIDE    AIRY_FILTER_WIDE
#define ACROSS  (WIDE / VL) /* items of a row */
#define PAIR    AIRY_JOIN(W, 2)
#define HIGH    (GROUP / ACROSS * ROWS)                     /* rows of results of a group */
#define TALL    (HIGH + TAPS_Y - 1u)                        /* rows that it looks at */
#define COLUMNS (WIDE + TAPS_X - 1u + FIRST)                /* that it looks at */
#define NEEDED  ((COLUMNS + VL - 1u) / VL)                  /* units of them */
#define UNITS   ((VL + TAPS_X - 1u + FIRST + VL - 1u) / VL) /* of a row that an item looks at */

#ifdef SHIFT
/*
 * As stage, where rows begin at units and have all columns: `from` is what the group looks at first
 * in row 0 of the plane.
 */
AIRY_INLINE void stage_units(__local V *tile, __global const T *from, long y, W outside,
                             const airy_filter_geom *g)
{
    const bool inside = y >= 0 && y + (long)TALL <= g->n[1];
#pragma unroll
    for (uint i = 0u; i < TALL * NEEDED; i += GROUP) {
        const uint at = i + get_local_id(0), row = at / NEEDED, unit = at % NEEDED;
        __local V *to = tile + row * NEEDED + unit;
        if (i + GROUP > TALL * NEEDED && at >= TALL * NEEDED)
            continue;
        const long from_y = inside ? y + (long)row
                                   : airy_border_index(y + (long)row, g->n[1], g->border);
        if (from_y >= 0)
            AIRY_FETCH16(to, (__global const V *)(from + from_y * g->src_step[2]) + unit);
        else
            *to = (V)outside;
    }
}
#endif

/* With fewer taps the writes are what takes the time. */
#define MANY (TAPS_X * TAPS_Y >= 64)

#if MANY
/*
 * The results of an item to `to`, where those of the group begin, of which high x wide are wanted;
 * two at a time where `to` and rows begin at such.
 */
AIRY_INLINE void write_results(__global W *to, W (*sum)[VL], long high, long wide,
                               const airy_filter_geom *g)
{
    const uint across = get_local_id(0) % ACROSS * VL, down = get_local_id(0) / ACROSS * ROWS;
    const long odd = g->dst_offset | g->dst_step[0] | g->dst_step[1] | g->dst_step[2];
    to += (long)down * g->dst_step[2] + (long)across;
#pragma unroll
    for (uint s = 0u; s < ROWS; s++) {
        const long count = (long)(down + s) < high ? wide - (long)across : 0;
        if ((odd & 1) == 0 && count >= VL) {
#pragma unroll
            for (uint k = 0u; k < VL; k += 2u)
                *(__global PAIR *)(to + k) = (PAIR)(sum[s][k], sum[s][k + 1u]);
        } else {
#pragma unroll
            for (uint k = 0u; k < VL; k++)
                if ((long)k < count)
                    to[k] = sum[s][k];
        }
        to += g->dst_step[2];
    }
}
#else
/* The same through local memory, so that items beside each other write beside each other. */
AIRY_INLINE void write_through(__global W *to, __local W *tile, W (*sum)[VL], long high, long wide,
                               const airy_filter_geom *g)
{
    const uint item = get_local_id(0), across = item % ACROSS * VL, down = item / ACROSS * ROWS,
               x = item % WIDE;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint s = 0u; s < ROWS; s++)
#pragma unroll
        for (uint k = 0u; k < VL; k++)
            tile[(down + s) * (NEEDED * VL) + across + k] = sum[s][k];
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((long)x < wide)
        for (uint y = item / WIDE; y < (uint)min((long)HIGH, high); y += GROUP / WIDE)
            to[(long)y * g->dst_step[2] + x] = tile[y * (NEEDED * VL) + x];
}
#endif

/*
 * Mapping: WIDE / VL items across with VL results each, the others below each other with ROWS
 * of them. Groups go down strips, and the strips at both ends, which take longer, come first. Local
 * memory: the elements that a group looks at, 19 KiB of float and 23 of double with 15 x 15 taps.
 * Barriers: one; three with few taps.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_exact(__global const T *src, WEIGHTS, __global W *dst, W outside, const airy_filter_geom g)
{
    __local V tile[TALL * NEEDED];
    const uint item = get_local_id(0), across = item % ACROSS, down = item / ACROSS * ROWS,
               plane = (uint)get_global_id(2);
    const long image = (long)(plane / (uint)g.out[0]), z = (long)(plane % (uint)g.out[0]);
    const uint strip = get_global_id(1) > 0 ? (uint)get_global_id(1) - 1u : g.strips - 1u;
    const long x0 = (long)strip * WIDE, y0 = (long)get_group_id(0) * HIGH;
    const long from_y = y0 + g.offset[1] - (long)(TAPS_Y - 1u),
               from_x = x0 + g.offset[2] - (long)(TAPS_X - 1u + FIRST);
    __global const T *from = src + g.src_offset + image * g.src_step[0];
#ifdef SHIFT
    if (from_x >= 0 && from_x + (long)(NEEDED * VL) <= g.n[2])
        stage_units(tile, from + z * g.src_step[1] + from_x, from_y, outside, &g);
    else
#endif
        stage((__local W *)tile, NEEDED * VL, TALL, COLUMNS, from, z, from_y, from_x, outside, &g);
    W sum[ROWS][VL];
#pragma unroll
    for (uint s = 0u; s < ROWS; s++)
#pragma unroll
        for (uint k = 0u; k < VL; k++)
            sum[s][k] = (W)0;
    AIRY_FETCHED();
    barrier(CLK_LOCAL_MEM_FENCE);
    /* Row i of what the item looks at counts in row s of the results with row i - s of the taps. */
#pragma unroll
    for (uint i = 0u; i < TAPS_Y + ROWS - 1u; i++) {
        W at[UNITS * VL];
#pragma unroll
        for (uint k = 0u; k < UNITS; k++)
            get_unit(at + k * VL, tile[(down + i) * NEEDED + across + k]);
#pragma unroll
        for (uint s = 0u; s < ROWS; s++)
            if (i - s < TAPS_Y) {
#pragma unroll
                for (uint j = 0u; j < TAPS_X; j++) {
#pragma unroll
                    for (uint k = 0u; k < VL; k++)
                        sum[s][k] = fma(WEIGHT((i - s) * TAPS_X + j), at[FIRST + j + k], sum[s][k]);
                }
            }
    }
    __global W *to = dst + g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] +
                     y0 * g.dst_step[2] + x0;
#if MANY
    write_results(to, sum, g.out[1] - y0, g.out[2] - x0, &g);
#else
    write_through(to, (__local W *)tile, sum, g.out[1] - y0, g.out[2] - x0, &g);
#endif
}

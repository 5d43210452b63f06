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
#define LINES   (GROUP / NEEDED)                            /* rows that are staged at a time */
#define COLUMNS (WIDE + TAPS_X - 1u + FIRST)                /* that it looks at */
#define NEEDED  ((COLUMNS + VL - 1u) / VL)                  /* units of them */
#define UNITS   ((VL + TAPS_X - 1u + FIRST + VL - 1u) / VL) /* of a row that an item looks at */

#ifdef SHIFT
/* TALL rows of NEEDED units, `step` units apart. All items of the group, each down a column. */
AIRY_INLINE void stage_units(__local V *tile, __global const V *from, uint step)
{
    const uint row = get_local_id(0) / NEEDED, unit = get_local_id(0) % NEEDED;
    __local V *to = tile + get_local_id(0);
    if (row >= LINES)
        return;
    from += (ulong)row * step + unit;
#pragma unroll
    for (uint i = 0u; i < TALL; i += LINES) {
        if (i + LINES <= TALL || i + row < TALL)
            AIRY_FETCH16(to + i * NEEDED, from);
        from += LINES * step;
    }
}

/*
 * The same at the ends of rows and columns, from (y, x) of a plane on, `wide` elements of a row. One
 * unit after the other: with all on their way at once these few groups would take registers from all.
 */
AIRY_INLINE void stage_ends(__local V *tile, __global const T *plane, int y, int x, int wide,
                            W outside, const airy_filter_geom *g)
{
    const int n = (int)g->n[2];
    const bool fills = g->border < AIRY_BORDER_INDEX_NEAREST;
    AIRY_UNROLL(1)
    for (uint at = get_local_id(0); at < TALL * NEEDED; at += GROUP) {
        const int i = (int)(at % NEEDED * VL), column = x + i, high = (int)g->n[1],
                  row = airy_border_fold(y + (int)(at / NEEDED), high, g->border);
        __global const T *line = plane + row * g->src_step[2];
        if (i >= wide)
            continue;
        if (row < 0 || row >= high || (fills && (column >= n || column + VL <= 0)))
            tile[at] = (V)outside;
        else if (column >= 0 && column + VL <= n)
            AIRY_FETCH16(tile + at, (__global const V *)(line + column));
        else {
            __local W *to = (__local W *)(tile + at);
            AIRY_UNROLL(1)
            for (int k = 0; k < VL; k++) {
                const int from = airy_border_fold(column + k, n, g->border);
                if (from >= 0 && from < n)
                    TO_LOCAL(to, k, line + from);
                else
                    to[k] = outside;
            }
        }
    }
}
#endif

/* With fewer taps the writes are what takes the time. */
#define MANY (TAPS_X * TAPS_Y >= 64)

#if MANY
/*
 * The results of an item to `to`, of which high x wide are wanted; two at a time where rows begin at
 * such.
 */
AIRY_INLINE void write_results(__global W *to, W (*sum)[VL], int high, int wide, uint step)
{
#pragma unroll
    for (uint s = 0u; s < ROWS; s++) {
        const int count = (int)s < high ? wide : 0;
        if (count >= VL && (uint)(size_t)to % sizeof(PAIR) == 0u) {
#pragma unroll
            for (uint k = 0u; k < VL; k += 2u)
                *(__global PAIR *)(to + k) = (PAIR)(sum[s][k], sum[s][k + 1u]);
        } else {
#pragma unroll
            for (int k = 0; k < VL; k++)
                if (k < count)
                    to[k] = sum[s][k];
        }
        to += step;
    }
}
#else
/* The same through local memory, so that items beside each other write beside each other. */
AIRY_INLINE void write_through(__global W *to, __local W *tile, W (*sum)[VL], uint down,
                               uint across, int high, int wide, uint step)
{
    const uint item = get_local_id(0), x = item % WIDE;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint s = 0u; s < ROWS; s++)
#pragma unroll
        for (uint k = 0u; k < VL; k++)
            tile[(down + s) * (NEEDED * VL) + across + k] = sum[s][k];
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((int)x < wide)
        for (uint y = item / WIDE; y < (uint)min((int)HIGH, high); y += GROUP / WIDE)
            to[(ulong)y * step + x] = tile[y * (NEEDED * VL) + x];
}
#endif

/*
 * Mapping: WIDE / VL items across with VL results each, the others below each other with ROWS
 * of them. Groups go down strips, and the strips at both ends, which take longer, come first. Local
 * memory: the elements that a group looks at, 14 KiB of float and 23 of double with 15 x 15 taps.
 * Barriers: one; three with few taps.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_exact(__global const T *src, WEIGHTS, __global W *dst, W outside, const airy_filter_geom g)
{
    __local V tile[TALL * NEEDED];
    const uint item = get_local_id(0), plane = (uint)get_global_id(2);
    const uint strip = get_global_id(1) > 0 ? (uint)get_global_id(1) - 1u : g.strips - 1u;
    const int x0 = (int)(strip * WIDE), y0 = (int)(get_group_id(0) * HIGH),
              wide = (int)g.out[2] - x0, high = (int)g.out[1] - y0;
    const int y = y0 + (int)g.offset[1] - (int)(TAPS_Y - 1u),
              x = x0 + (int)g.offset[2] - (int)(TAPS_X - 1u + FIRST);
    long z = 0;
    src += g.src_offset;
    dst += g.dst_offset;
    if (plane > 0u) {
        const long image = (long)(plane / (uint)g.out[0]);
        z = (long)(plane % (uint)g.out[0]);
        src += image * g.src_step[0];
        dst += image * g.dst_step[0] + z * g.dst_step[1];
#ifdef SHIFT
        src += z * g.src_step[1];
#endif
    }
#ifdef SHIFT
    const uint step = (uint)g.src_step[2];
    if (x >= 0 && x + (int)(NEEDED * VL) <= (int)g.n[2] && y >= 0 && y + (int)TALL <= (int)g.n[1])
        stage_units(tile, (__global const V *)(src + (ulong)(uint)y * step + (uint)x), step / VL);
    else
        stage_ends(tile, src, y, x, wide + (int)(TAPS_X - 1u + FIRST), outside, &g);
#else
    stage((__local W *)tile, NEEDED * VL, TALL, COLUMNS, src, z, (long)y, (long)x, outside, &g);
#endif
#if MANY
    /* A narrow last strip has fewer items across, and the others are done. */
    const uint beside = wide > (int)WIDE / 2   ? ACROSS
                        : wide > (int)WIDE / 4 ? ACROSS / 2u
                                               : ACROSS / 4u;
#else
    const uint beside = ACROSS;
#endif
    const uint across = item % beside, down = item / beside * ROWS, to_step = (uint)g.dst_step[2];
    __local const V *line = tile + down * NEEDED + across;
    /* Row i of what the item looks at counts in row s of the results with row i - s of the taps. */
    W sum[ROWS][VL];
#pragma unroll
    for (uint s = 0u; s < ROWS; s++)
#pragma unroll
        for (uint k = 0u; k < VL; k++)
            sum[s][k] = (W)0;
    dst += (ulong)(uint)y0 * to_step + (uint)x0;
    AIRY_FETCHED();
    barrier(CLK_LOCAL_MEM_FENCE);
#if MANY
    if (down >= HIGH)
        return;
#endif
#pragma unroll
    for (uint i = 0u; i < TAPS_Y + ROWS - 1u; i++) {
        W at[UNITS * VL];
#pragma unroll
        for (uint k = 0u; k < UNITS; k++)
            get_unit(at + k * VL, line[i * NEEDED + k]);
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
#if MANY
    write_results(dst + (ulong)down * to_step + across * VL, sum, high - (int)down,
                  wide - (int)(across * VL), to_step);
#else
    write_through(dst, (__local W *)tile, sum, down, across * VL, high, wide, to_step);
#endif
}

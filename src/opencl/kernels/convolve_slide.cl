/*
 * Products of two lines of few taps in one pass: what y looks back on stays in registers.
 *
 * Build options beside those of filter_line.h: TAPS_X, TAPS_Y: taps along x and y.
 */

/* Rows of lines lie an odd number of units apart; items beside each other read different rows. */
#define PADDED 0

#include "opencl/kernels/filter_line.h"

#ifndef TAPS_Y
#define TAPS_X 9u
#define TAPS_Y 9u
#endif
#define SPAN   16u           /* results that an item makes at a time */
#define BACK   (TAPS_Y - 1u) /* elements before that of a result, along y */
#define BEFORE (TAPS_X - 1u) /* and along x */

#define MADE_PITCH (GROUP / VL | 1u)
#define LINE_UNITS ((GROUP + TAPS_X - 1u + VL - 1u) / VL)
#define LINE_PITCH (LINE_UNITS | 1u)
#define ROW_UNITS  ((SPAN + TAPS_X - 1u + VL - 1u) / VL)
#define WARM       ((BACK + SPAN - 1u) / SPAN) /* steps before the first that gives results */

/* Make SPAN results along x of the elements from `line` on. Returns what has_pair does for them. */
AIRY_INLINE bool sum_row(W *sum, __local const V *line, const W *table)
{
    W at[ROW_UNITS * VL];
    bool pair = false;
#pragma unroll
    for (uint k = 0u; k < SPAN; k++)
        sum[k] = (W)0;
#pragma unroll
    for (uint u = 0u; u < ROW_UNITS; u++) {
        get_unit(at + u * VL, line[u]);
#pragma unroll
        for (uint i = u * VL; i < u * VL + VL; i++)
#pragma unroll
            for (uint k = 0u; k < SPAN; k++)
                if (i >= k && i - k < TAPS_X)
                    sum[k] = fma(table[i - k], at[i], sum[k]);
#pragma unroll
        for (uint i = u * VL; i < u * VL + VL; i++)
            pair |= is_pair(i, SPAN, BEFORE, BEFORE) && at[i] == at[i - 1u];
    }
    return pair;
}

/*
 * Results of SPAN elements behind BACK others, EACH at a time, to a column that has room for
 * `count`.
 */
AIRY_INLINE void slide_out(__global W *to, long step, const W *at, long count, const W *table,
                           const airy_filter_geom *g)
{
#pragma unroll
    for (uint from = 0u; from < SPAN; from += EACH) {
        if ((long)from < count) {
            W sum[EACH];
#pragma unroll
            for (uint k = 0u; k < EACH; k++)
                sum[k] = (W)0;
#pragma unroll
            for (uint j = 0u; j < TAPS_Y; j++)
#pragma unroll
                for (uint k = 0u; k < EACH; k++)
                    sum[k] = fma(table[j], at[from + k + j], sum[k]);
            if (g->unit != 0u && has_pair(at + from, EACH, BACK, BACK))
                KEEP_HELD(sum, 1u, EACH, TAPS_Y, at + from, BACK);
            put_column(to + (long)from * step, step, sum, EACH, count - (long)from, g);
        }
    }
}

/*
 * Along x, then along y. Mapping: a group goes down a strip of GROUP columns, SPAN rows at a time:
 * these go to local memory while the rows before are worked on, an item makes SPAN results of one
 * row, and then takes SPAN of one column. Local memory: 2 x SPAN lines, SPAN rows of results, 27 KiB
 * with 17 taps and groups of 128. Barriers: two a step.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_slide(__global const T *src, WEIGHTS, __global W *dst, W outside, const airy_filter_geom g)
{
    __local V lines[2 * SPAN * LINE_PITCH], made[SPAN * MADE_PITCH];
    const uint item = get_local_id(0), strip = get_group_id(0) % g.strips,
               rest = get_group_id(0) / g.strips, segment = rest % g.segments;
    const uint plane = rest / g.segments;
    const long image = (long)(plane / (uint)g.out[0]), z = (long)(plane % (uint)g.out[0]);
    const long x0 = (long)strip * GROUP, first = (long)segment * g.length;
    const long end = min(first + (long)g.length, (long)g.out[1]);
    const uint columns = (uint)min((long)GROUP, g.out[2] - x0) + TAPS_X - 1u;
    const uint steps = (uint)((end - first + SPAN - 1) / SPAN) + WARM;
    const long from_x = x0 + g.offset[2] - (long)(TAPS_X - 1u),
               from_y = first + g.offset[1] - (long)(WARM * SPAN);
    __global const T *from = src + g.src_offset + image * g.src_step[0];
    const bool writes = x0 + (long)item < g.out[2];
    __global W *to = dst + g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] +
                     first * g.dst_step[2] + x0 + (long)item;
    const uint row = item % SPAN, unit = item / SPAN * (SPAN / VL);
    W at[BACK + SPAN];
#pragma unroll
    for (uint k = 0u; k < BACK + SPAN; k++)
        at[k] = (W)0;
    stage((__local W *)lines, LINE_PITCH * VL, SPAN, columns, from, z + g.offset[0], from_y, from_x,
          outside, &g);
    AIRY_UNROLL(1)
    for (uint m = 0u; m < steps; m++) {
        W sum[SPAN];
        AIRY_FETCHED();
        barrier(CLK_LOCAL_MEM_FENCE);
        if (m + 1u < steps)
            stage((__local W *)lines + ((m + 1u) & 1u) * (SPAN * LINE_PITCH * VL), LINE_PITCH * VL,
                  SPAN, columns, from, z + g.offset[0], from_y + (long)(SPAN * (m + 1u)), from_x,
                  outside, &g);
        __local const V *line = lines + ((m & 1u) * SPAN + row) * LINE_PITCH + unit;
        const bool keep = sum_row(sum, line, TABLE_AT(0));
#pragma unroll
        for (uint k = 0u; k < SPAN; k += EACH)
            store_line(made + row * MADE_PITCH, unit + k / VL, sum + k);
        if (g.unit != 0u && keep)
            keep_line((__local W *)(made + row * MADE_PITCH), unit * VL, SPAN,
                      (__local const W *)line, 0u, TAPS_X);
#pragma unroll
        for (uint k = 0u; k < BACK; k++)
            at[k] = at[k + SPAN];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint k = 0u; k < SPAN; k++)
            at[BACK + k] = ((__local const W *)made)[k * (MADE_PITCH * VL) + item];
        if (m < WARM)
            continue;
        if (writes)
            slide_out(to, g.dst_step[2], at, end - first - (long)(SPAN * (m - WARM)),
                      TABLE_AT(airy_filter_rounded(TAPS_X)), &g);
        to += (long)SPAN * g.dst_step[2];
    }
}

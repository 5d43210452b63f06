/*
 * The product of two lines of few taps in one pass, any source: along y in registers, then along x
 * through local memory.
 *
 * Build options beside those of filter_line.h: TAPS_X, TAPS_Y: taps along x and y, both or none:
 * then up to AIRY_FILTER_SWEPT. Results are the same to the bit.
 */
#define PADDED 0

#ifndef GROUP
#define GROUP 128
#endif

#include "opencl/kernels/filter_line.h"

#ifdef TAPS_Y
#define MOST_X   TAPS_X
#define MOST_Y   TAPS_Y
#define BESIDE_X (TAPS_X - 1u) /* has_pair */
#define BESIDE_Y (TAPS_Y - 1u)
#else
#define MOST_X   AIRY_FILTER_SWEPT
#define MOST_Y   AIRY_FILTER_SWEPT
#define BESIDE_X 2u
#define BESIDE_Y 2u
#define TAPS_X   g.taps[2]
#define TAPS_Y   g.taps[1]
#endif

#define BACK  (MOST_Y - 1u)                             /* rows that results look back on */
#define WARM  ((BACK + EACH - 1u) / EACH)               /* steps before the first results */
#define LEAD  ((MOST_X - 1u + EACH - 1u) / EACH * EACH) /* columns in front of the results */
#define WIDE  (GROUP - LEAD)                            /* results of a row of a group */
#define SLOTS (GROUP / EACH)                            /* items of a row */
#define PAIR  AIRY_JOIN(W, 2)

/* Units that items beside each other begin with lie an odd number apart, for the banks' sake. */
#define PLACE(unit) ((unit) + (unit) / (EACH / VL))
#define PITCH       PLACE(GROUP / VL)
#define PLACE_OF(x) (PLACE((x) / VL) * VL + (x) % VL) /* of element x */

/* The items that share rows of results wait for each other. */
#ifdef AIRY_WARP
#define PART        32u
#define PART_SYNC() AIRY_WARP_SYNC()
#else
#define PART        GROUP
#define PART_SYNC() barrier(CLK_LOCAL_MEM_FENCE)
#endif

/* EACH elements of a column from row y on, borders included. */
AIRY_INLINE void load_rows(W *to, __global const T *column, bool there, long y, W outside,
                           const airy_filter_geom *g)
{
    if (y >= 0 && y + EACH <= g->n[1]) {
        __global const T *from = column + y * g->src_step[2];
#pragma unroll
        for (uint k = 0u; k < EACH; k++) {
            to[k] = there ? (W)*from : outside;
            from += g->src_step[2];
        }
        return;
    }
    AIRY_UNROLL(1)
    for (uint k = 0u; k < EACH; k++) {
        const long row = airy_border_index(y + (long)k, g->n[1], g->border);
#pragma unroll
        for (uint j = 0u; j + 1u < EACH; j++)
            to[j] = to[j + 1u];
        to[EACH - 1u] = there && row >= 0 ? (W)column[row * g->src_step[2]] : outside;
    }
}

/*
 * Make EACH results along y of one column, of elements behind BACK others, in rows of sums. skip:
 * how many fewer than MOST_Y the taps are; unit: weights add up to 1.
 */
AIRY_INLINE void sum_rows(__local W *to, const W *at, const W *table, uint skip, bool unit)
{
#pragma unroll
    for (uint k = 0u; k < EACH; k++) {
        W sum = (W)0;
#pragma unroll
        for (uint j = 0u; j < MOST_Y; j++)
            if (j >= skip)
                sum = fma(table[j - skip], at[k + j], sum);
        to[k * (PITCH * VL)] = sum;
    }
    if (unit && has_pair(at, EACH, BACK, BESIDE_Y))
        KEEP_HELD(to, PITCH * VL, EACH, MOST_Y - skip, at, BACK);
}

#define PLACED_ELEMENT(i) ((__local const W *)line)[PLACE_OF(LEAD + 1u - taps + (i))]

/*
 * Make EACH results along x, of elements behind LEAD others from `line` on. skip, unit: as
 * sum_rows.
 */
AIRY_INLINE void sum_across(W *sum, __local const V *line, const W *table, uint skip, bool unit)
{
    W at[EACH + LEAD];
    bool pair = false;
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        sum[k] = (W)0;
#pragma unroll
    for (uint u = 0u; u < (EACH + LEAD) / VL; u++) {
        get_unit(at + u * VL, line[PLACE(u)]);
#pragma unroll
        for (uint i = u * VL; i < u * VL + VL; i++)
#pragma unroll
            for (uint k = 0u; k < EACH; k++) {
                const uint j = i - (LEAD - (MOST_X - 1u)) - k;
                if (j < MOST_X && j >= skip)
                    sum[k] = fma(table[j - skip], at[i], sum[k]);
            }
#pragma unroll
        for (uint i = u * VL; i < u * VL + VL; i++)
            pair |= is_pair(i, EACH, LEAD, BESIDE_X) && at[i] == at[i - 1u];
    }
    if (unit && pair) {
        const uint taps = MOST_X - skip;
        KEEP_RUNS(KEEP_ALL, EACH, taps, PLACED_ELEMENT, SUM_RESULT);
    }
}

/*
 * Rows of results in local memory to `to`, where the group's begin, of which high x wide are wanted;
 * two at a time where `to` and rows begin at such. Each part of the group writes its own.
 */
AIRY_INLINE void write_rows(__global W *to, __local const V *tile, long high, long wide,
                            const airy_filter_geom *g)
{
    const uint lane = get_local_id(0) % PART, first = get_local_id(0) / PART * (PART / SLOTS);
    const long odd = g->dst_offset | g->dst_step[0] | g->dst_step[1] | g->dst_step[2];
    const bool pairs = (odd & 1) == 0 && g->add == 0u;
#pragma unroll
    for (uint i = 0u; i < PART / SLOTS * (WIDE / 2u); i += PART) {
        const uint row = first + (i + lane) / (WIDE / 2u), x = (i + lane) % (WIDE / 2u) * 2u;
        __local const W *from = (__local const W *)(tile + row * PITCH) + PLACE_OF(x);
        const long at = (long)row * g->dst_step[2] + (long)x;
        if (i + lane >= PART / SLOTS * (WIDE / 2u) || (long)row >= high || (long)x >= wide)
            continue;
        if (pairs && (long)x + 1 < wide)
            *(__global PAIR *)(to + at) = (PAIR)(from[0], from[1]);
        else {
            put(to, at, from[0], g);
            if ((long)x + 1 < wide)
                put(to, at + 1, from[1], g);
        }
    }
}

/*
 * Mapping: a group goes down a strip of WIDE columns and LEAD more, EACH rows at a time: an item
 * makes EACH results along y of one column, and then EACH along x of one row of these, which go back
 * to where their elements were, so that items beside each other write beside each other. Local
 * memory: two times EACH rows, 20 KiB of double. Barriers: one a step; elsewhere than on
 * NVIDIA, three.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_sweep(__global const T *src, WEIGHTS, __global W *dst, W outside, const airy_filter_geom g)
{
    __local V rows[2u * EACH * PITCH];
    const uint item = get_local_id(0), strip = get_group_id(0) % g.strips,
               rest = get_group_id(0) / g.strips, segment = rest % g.segments,
               plane = rest / g.segments, slot = item % SLOTS;
    const long image = (long)(plane / (uint)g.out[0]), z = (long)(plane % (uint)g.out[0]);
    const long x0 = (long)strip * WIDE, first = (long)segment * g.length;
    const long end = min(first + (long)g.length, (long)g.out[1]);
    const uint steps = (uint)((end - first + EACH - 1) / EACH) + WARM;
    const long from_z = airy_border_index(z + g.offset[0], g.n[0], g.border),
               from_x =
                   airy_border_index(x0 + g.offset[2] - (long)LEAD + (long)item, g.n[2], g.border),
               from_y = first + g.offset[1] - (long)(WARM * EACH);
    __global const T *column = src + g.src_offset + image * g.src_step[0] + from_z * g.src_step[1] +
                               from_x;
    __global W *to = dst + g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] +
                     first * g.dst_step[2] + x0;
    W next[EACH], at[BACK + EACH];
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        next[k] = (W)0;
#pragma unroll
    for (uint k = 0u; k < BACK + EACH; k++)
        at[k] = (W)0;
    AIRY_UNROLL(1)
    for (uint m = 0u; m <= steps; m++) {
        W sum[EACH];
        __local V *tile = rows + (m & 1u) * (EACH * PITCH),
                  *line = tile + item / SLOTS * PITCH + PLACE(slot * (EACH / VL));
#pragma unroll
        for (uint k = 0u; k < BACK; k++)
            at[k] = at[k + EACH];
#pragma unroll
        for (uint k = 0u; k < EACH; k++)
            at[BACK + k] = next[k];
        if (m < steps)
            load_rows(next, column, from_z >= 0 && from_x >= 0, from_y + (long)(EACH * m), outside,
                      &g);
        if (m <= WARM)
            continue;
        sum_rows((__local W *)tile + PLACE_OF(item), at, TABLE_AT(airy_filter_rounded(TAPS_X)),
                 MOST_Y - TAPS_Y, g.unit != 0u);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (slot < WIDE / EACH)
            sum_across(sum, line, TABLE_AT(0), MOST_X - TAPS_X, g.unit != 0u);
        PART_SYNC();
        if (slot < WIDE / EACH) {
#pragma unroll
            for (uint i = 0u; i < EACH / VL; i++)
#if VL == 4
                line[PLACE(i)] =
                    (V)(sum[4u * i], sum[4u * i + 1u], sum[4u * i + 2u], sum[4u * i + 3u]);
#else
                line[PLACE(i)] = (V)(sum[2u * i], sum[2u * i + 1u]);
#endif
        }
        PART_SYNC();
        write_rows(to, tile, end - first - (long)(EACH * (m - WARM - 1u)), g.out[2] - x0, &g);
        to += (long)EACH * g.dst_step[2];
    }
}

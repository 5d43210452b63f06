/*
 * The product of three lines of few taps in one pass (filter_tile.h), so that a volume is read once
 * and written once.
 */
#include "opencl/kernels/filter_tile.h"

#define MADE_PITCH (WIDE / VL | 1u)
#define BACK       (TAPS_Z - 1u)
#define AHEAD      2 /* planes on their way: 0.49 ms instead of 0.52 with one */

/* The units of the own row in plane z. */
AIRY_INLINE void stage_plane(__local V *to, __global const T *row, long z, bool inside, bool there,
                             long x, W outside, const airy_filter_geom *g)
{
    const long plane = airy_border_index(z, g->n[0], g->border);
    stage_row(to, row + plane * g->src_step[1], inside, there && plane >= 0, x, outside, g);
}

/*
 * Return four bits for each of RUN columns: in how many planes before the element was the same as
 * in this one. equal: the bits of the plane before.
 */
AIRY_INLINE uint equal_planes(const W *column, const W *before, uint equal)
{
    uint next = 0u;
#pragma unroll
    for (uint k = 0u; k < RUN; k++)
        next |= column[k] == before[k] ? min((equal >> (4u * k) & 15u) + 1u, 15u) << (4u * k) : 0u;
    return next;
}

/*
 * Mapping: a group goes through the planes of a tile of 64 columns, AHEAD of which are on their way
 * to local memory while one is worked on; items sum EACH elements of a row along x, then RUN of a
 * column along y, and these count in BACK + 1 results each, whose sums are kept in registers. Local
 * memory: AHEAD + 1 planes of the tile and sums along x of one, 37 KiB with 9 taps. Barriers: two a
 * plane.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_volume(__global const T *src, WEIGHTS, __global W *dst, W outside,
                const airy_filter_geom g)
{
    __local V tile[(AHEAD + 1) * ROWS * TILE_PITCH], made[ROWS * MADE_PITCH];
    const uint item = get_local_id(0), part = (uint)get_global_id(2);
    const long image = (long)(part / g.segments), first = (long)(part % g.segments) * g.length;
    const long x0 = (long)get_group_id(0) * WIDE, y0 = (long)get_global_id(1) * HIGH;
    const uint high = (uint)min((long)HIGH, g.out[1] - y0), rows = high + TAPS_Y - 1u;
    const uint planes = (uint)min((long)g.length, g.out[0] - first) + BACK;
    const long from_y = y0 + g.offset[1] - (long)(TAPS_Y - 1u),
               from_x = x0 + g.offset[2] - (long)(TAPS_X - 1u) - SHIFT,
               from_z = first + g.offset[0] - (long)BACK;
    const bool inside = from_x >= 0 && from_x + (long)(NEEDED(WIDE) * VL) <= g.n[2];
    const uint row = item / ACROSS;
    /* Items beside each other sum rows below each other, which lie in different banks. */
    const uint sums_row = item / WIDE * EACH + item % EACH, unit = item % WIDE / EACH * (EACH / VL),
               taken = sums_row * TILE_PITCH + unit;
    const long from_row = row_of(from_y, row, rows, &g);
    __global const T *from = src + g.src_offset + image * g.src_step[0] + from_row * g.src_step[2];
    __local V *line = tile + row * TILE_PITCH;
    const uint x = item % WIDE, y = item / WIDE * RUN;
    const bool writes = x0 + (long)x < g.out[2] && y < high;
    __global W *to = dst + g.dst_offset + image * g.dst_step[0] + first * g.dst_step[1] +
                     (y0 + (long)y) * g.dst_step[2] + x0 + (long)x;
    W sums[RUN][BACK], before[RUN];
    uint equal = 0u; /* equal_planes */
#pragma unroll
    for (uint k = 0u; k < RUN; k++) {
        before[k] = (W)0;
#pragma unroll
        for (uint j = 0u; j < BACK; j++)
            sums[k][j] = (W)0;
    }
    __local V *next = line, *now = tile;
#pragma unroll
    for (uint p = 0u; p < AHEAD; p++) {
        if (p < planes)
            stage_plane(next, from, from_z + (long)p, inside, from_row >= 0, from_x, outside, &g);
        AIRY_FETCH_END();
        next += ROWS * TILE_PITCH;
    }
    AIRY_UNROLL(1)
    for (uint p = 0u; p < planes; p++) {
        W at[NEEDED(EACH) * VL], sum[EACH], column[RUN], done[RUN];
        bool any = false;
        AIRY_FETCHED_BUT(AHEAD - 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (p + AHEAD < planes)
            stage_plane(next, from, from_z + (long)(p + AHEAD), inside, from_row >= 0, from_x,
                        outside, &g);
        AIRY_FETCH_END();
        get_units(at, now + taken);
        const bool pair = units_pair(at);
        sum_units(sum, at, TABLE_AT(0));
        __local const V *here = now + taken;
        next = now + row * TILE_PITCH;
        now = now == tile + AHEAD * (ROWS * TILE_PITCH) ? tile : now + ROWS * TILE_PITCH;
        store_line(made + sums_row * MADE_PITCH, unit, sum);
        if (g.unit != 0u && pair)
            keep_line((__local W *)(made + sums_row * MADE_PITCH), unit * VL, EACH,
                      (__local const W *)here, SHIFT, TAPS_X);
        barrier(CLK_LOCAL_MEM_FENCE);
        sum_down(column, (__local const W *)(made + y * MADE_PITCH) + x, MADE_PITCH * VL,
                 TABLE_AT(AFTER(TAPS_X)), g.unit != 0u);
#pragma unroll
        for (uint k = 0u; k < RUN; k++) {
            const W *w = TABLE_AT(AFTER(TAPS_X) + AFTER(TAPS_Y));
            done[k] = fma(w[BACK], column[k], sums[k][0]);
#pragma unroll
            for (uint j = 1u; j < BACK; j++)
                sums[k][j - 1u] = fma(w[BACK - j], column[k], sums[k][j]);
            sums[k][BACK - 1u] = fma(w[0], column[k], (W)0);
            any |= column[k] == before[k];
        }
        equal = g.unit != 0u && any ? equal_planes(column, before, equal) : 0u;
#pragma unroll
        for (uint k = 0u; k < RUN; k++)
            before[k] = column[k];
        if (p < BACK)
            continue;
        if (writes)
            put_column(to, g.dst_step[2], done, RUN, (long)(high - y), &g);
        if (writes && equal != 0u) { /* KEEP_RUNS along z */
#pragma unroll
            for (uint k = 0u; k < RUN; k++)
                if (k < high - y && (equal >> (4u * k) & 15u) >= BACK)
                    to[(long)k * g.dst_step[2]] = column[k];
        }
        to += g.dst_step[1];
    }
}

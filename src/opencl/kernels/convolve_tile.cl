/*
 * The product of two lines of few taps, of float, where rows of the source begin at units of 16
 * bytes.
 *
 * Build options beside those of filter_line.h: TAPS_X, TAPS_Y: taps along x and y; HIGH: rows of
 * results of a group, a multiple of GROUP / WIDE; SHIFT: elements from such a beginning to the
 * first that a row of a group looks at. Weights are in a table: of x, and of y from the next whole
 * block on (airy_filter_rounded).
 */
#ifndef TAPS_X
#define TAPS_X 15u
#define TAPS_Y 15u
#define HIGH   48u
#define SHIFT  1
#endif
#ifndef GROUP
#define GROUP 256
#endif

/* Rows lie an odd number of units apart, and items beside each other look at different ones. */
#define PADDED 0

#include "opencl/kernels/filter_line.h"

#define WIDE         AIRY_FILTER_WIDE
#define NEEDED(wide) (((wide) + TAPS_X - 1u + SHIFT + VL - 1u) / VL) /* units for so many results */
#define LOOKED       ((HIGH + TAPS_Y - 1u + EACH - 1u) / EACH * EACH) /* rows of the tile */
#define RUN          (HIGH / (GROUP / WIDE))                          /* results of an item */
#define TILE_PITCH   (NEEDED(WIDE) | 1u)
#define MADE_PITCH   (WIDE / VL | 1u)

/* The unit at x of a row, whose elements are taken one by one where the row ends in it. */
AIRY_INLINE void stage_unit(__local V *to, __global const T *row, long x, bool there, W outside,
                            const airy_filter_geom *g)
{
    if (there && x >= 0 && x + VL <= g->n[2]) {
        AIRY_FETCH16(to, (__global const V *)(row + x));
        return;
    }
    AIRY_UNROLL(1)
    for (uint k = 0u; k < VL; k++) {
        const long from = airy_border_index(x + (long)k, g->n[2], g->border);
        if (there && from >= 0)
            TO_LOCAL((__local W *)to, k, row + from);
        else
            ((__local W *)to)[k] = outside;
    }
}

/*
 * `rows` rows of plane z of an image from (y, x) on, borders included; x begins a unit. All items
 * of the group; AIRY_FETCHED and a barrier end it.
 */
AIRY_INLINE void stage_tile(__local V *tile, uint rows, __global const T *image, long z, long y,
                            long x, W outside, const airy_filter_geom *g)
{
    const uint units = NEEDED(WIDE);
    const long from_z = airy_border_index(z, g->n[0], g->border);
    __global const T *plane = image + from_z * g->src_step[1];
    if (y >= 0 && y + (long)rows <= g->n[1] && x >= 0 && x + (long)(units * VL) <= g->n[2] &&
        from_z >= 0) {
        plane += y * g->src_step[2] + x;
        for (uint i = get_local_id(0); i < rows * units; i += GROUP) {
            const uint row = i / units, unit = i % units;
            AIRY_FETCH16(tile + row * TILE_PITCH + unit,
                         (__global const V *)(plane + (long)row * g->src_step[2]) + unit);
        }
        return;
    }
    AIRY_UNROLL(1)
    for (uint i = get_local_id(0); i < rows * units; i += GROUP) {
        const uint row = i / units, unit = i % units;
        const long from_y = airy_border_index(y + (long)row, g->n[1], g->border);
        stage_unit(tile + row * TILE_PITCH + unit, plane + from_y * g->src_step[2],
                   x + (long)(unit * VL), from_z >= 0 && from_y >= 0, outside, g);
    }
}

/* EACH results along x, of elements from SHIFT behind `from` on. */
AIRY_INLINE void sum_units(W *sum, __local const V *from, const W *table)
{
    W at[NEEDED(EACH) * VL];
#pragma unroll
    for (uint i = 0u; i < NEEDED(EACH); i++)
        get_unit(at + i * VL, from[i]);
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        sum[k] = (W)0;
#pragma unroll
    for (uint j = 0u; j < TAPS_X; j++)
#pragma unroll
        for (uint k = 0u; k < EACH; k++)
            sum[k] = fma(table[j], at[SHIFT + k + j], sum[k]);
}

/*
 * Along x, then along y. Mapping: a group makes the results of x for a tile of 64 columns, EACH of
 * a row an item, and from these HIGH rows of results, RUN of a column an item. Local memory: the
 * elements under the tile, 21 KiB with 15 x 15 taps, and the results of x, 17 KiB. Barriers: two.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_tile(__global const T *src, WEIGHTS, __global W *dst, W outside, const airy_filter_geom g)
{
    __local V tile[LOOKED * TILE_PITCH], made[LOOKED * MADE_PITCH];
    const uint item = get_local_id(0), strip = get_group_id(0) % g.strips,
               rest = get_group_id(0) / g.strips, plane = rest / g.segments;
    const long image = (long)(plane / (uint)g.out[0]), z = (long)(plane % (uint)g.out[0]);
    const long x0 = (long)strip * WIDE, y0 = (long)(rest % g.segments) * HIGH;
    const uint high = (uint)min((long)HIGH, g.out[1] - y0), rows = high + TAPS_Y - 1u;
    stage_tile(tile, rows, src + g.src_offset + image * g.src_step[0], z + g.offset[0],
               y0 + g.offset[1] - (long)(TAPS_Y - 1u),
               x0 + g.offset[2] - (long)(TAPS_X - 1u) - SHIFT, outside, &g);
    AIRY_FETCHED();
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint i = item; i < LOOKED * (WIDE / EACH); i += GROUP) {
        const uint row = i / WIDE * EACH + i % EACH, unit = i % WIDE / EACH * (EACH / VL);
        W sum[EACH];
        if (row >= rows)
            continue;
        sum_units(sum, tile + row * TILE_PITCH + unit, TABLE_AT(0));
        store_line(made + row * MADE_PITCH, unit, sum);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint x = item % WIDE, y = item / WIDE * RUN;
    if (x0 + (long)x >= g.out[2] || y >= high)
        return;
    __local const W *column = (__local const W *)(made + y * MADE_PITCH) + x;
    __global W *to = dst + g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] +
                     (y0 + (long)y) * g.dst_step[2] + x0 + (long)x;
    W at[RUN + TAPS_Y - 1u];
#pragma unroll
    for (uint k = 0u; k < RUN + TAPS_Y - 1u; k++)
        at[k] = column[k * MADE_PITCH * VL];
#pragma unroll
    for (uint k = 0u; k < RUN; k++) {
        W sum = (W)0;
#pragma unroll
        for (uint j = 0u; j < TAPS_Y; j++)
            sum = fma(WEIGHT((TAPS_X + EACH - 1u) / EACH * EACH + j), at[k + j], sum);
        if (y + k < high)
            put(to, (long)k * g.dst_step[2], sum, &g);
    }
}

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

/* Rows lie an odd number of units apart; an item takes its units of a row one behind the other. */
#define PADDED 0

#include "opencl/kernels/filter_line.h"

#define WIDE         AIRY_FILTER_WIDE
#define ACROSS       (WIDE / EACH)                                   /* items of a row */
#define DOWN         (GROUP / ACROSS)                                /* rows at a time */
#define NEEDED(wide) (((wide) + TAPS_X - 1u + SHIFT + VL - 1u) / VL) /* units for so many results */
#define TURNS        ((HIGH + TAPS_Y - 1u + DOWN - 1u) / DOWN)
#define RUN          (HIGH / (GROUP / WIDE)) /* results of an item */
#define TILE_PITCH   (NEEDED(WIDE) | 1u)

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

/* The row of a plane that row `row` of a tile of `rows` from y on is; -1: none. */
AIRY_INLINE long row_of(long y, uint row, uint rows, const airy_filter_geom *g)
{
    return row < rows ? airy_border_index(y + (long)row, g->n[1], g->border) : -1;
}

/*
 * The units of a row from x on, borders included; there: the row is not all outside. The ACROSS
 * items of a row call it together; AIRY_FETCHED and a barrier end it.
 */
AIRY_INLINE void stage_row(__local V *to, __global const T *row, bool there, long x, W outside,
                           const airy_filter_geom *g)
{
    AIRY_UNROLL(1)
    for (uint k = get_local_id(0) % ACROSS; k < NEEDED(WIDE); k += ACROSS)
        stage_unit(to + k, row, x + (long)(k * VL), there, outside, g);
}

/* What an item looks at for EACH results. A macro: from is in global or in local memory. */
#define get_units(at, from)                                                                        \
    do {                                                                                           \
        _Pragma("unroll") for (uint i_ = 0u; i_ < NEEDED(EACH); i_++)                              \
            get_unit((at) + i_ * VL, (from)[i_]);                                                  \
    } while (0)

/* EACH results along x, of elements from SHIFT behind at[0] on. */
AIRY_INLINE void sum_units(W *sum, const W *at, const W *table)
{
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
 * a row an item, and from these HIGH rows of results, RUN of a column an item. Items take what they
 * look at from the image where rows have all of it, else from local memory, where results of x take
 * its place. Local memory: 21 KiB with 15 x 15 taps. Barriers: one; at the ends of rows one more,
 * and one a turn.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_tile(__global const T *src, WEIGHTS, __global W *dst, W outside, const airy_filter_geom g)
{
    __local V tile[TURNS * DOWN * TILE_PITCH];
    const uint item = get_local_id(0), plane = (uint)get_global_id(2);
    const long image = (long)(plane / (uint)g.out[0]), z = (long)(plane % (uint)g.out[0]);
    const long x0 = (long)get_group_id(0) * WIDE, y0 = (long)get_global_id(1) * HIGH;
    const uint high = (uint)min((long)HIGH, g.out[1] - y0), rows = high + TAPS_Y - 1u;
    const long from_z = airy_border_index(z + g.offset[0], g.n[0], g.border),
               from_y = y0 + g.offset[1] - (long)(TAPS_Y - 1u),
               from_x = x0 + g.offset[2] - (long)(TAPS_X - 1u) - SHIFT;
    __global const T *from = src + g.src_offset + image * g.src_step[0] + from_z * g.src_step[1];
    const bool inside = from_z >= 0 && from_x >= 0 && from_x + (long)(NEEDED(WIDE) * VL) <= g.n[2];
    if (!inside) {
        for (uint row = item / ACROSS; row < TURNS * DOWN; row += DOWN) {
            const long from_row = row_of(from_y, row, rows, &g);
            stage_row(tile + row * TILE_PITCH, from + from_row * g.src_step[2],
                      from_z >= 0 && from_row >= 0, from_x, outside, &g);
        }
        AIRY_FETCHED();
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (uint t = 0u; t < TURNS; t++) {
        const uint row = item / ACROSS + t * DOWN;
        __local V *made = tile + row * TILE_PITCH + item % ACROSS * (EACH / VL);
        W at[NEEDED(EACH) * VL], sum[EACH];
        const long from_row = row_of(from_y, row, rows, &g);
        if (!inside) {
            get_units(at, made);
            barrier(CLK_LOCAL_MEM_FENCE);
        } else if (from_row >= 0)
            get_units(at, (__global const V *)(from + from_row * g.src_step[2] + from_x) +
                              item % ACROSS * (EACH / VL));
        else {
#pragma unroll
            for (uint k = 0u; k < NEEDED(EACH) * VL; k++)
                at[k] = outside;
        }
        sum_units(sum, at, TABLE_AT(0));
        store_line(made, 0u, sum);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint x = item % WIDE, y = item / WIDE * RUN;
    if (x0 + (long)x >= g.out[2] || y >= high)
        return;
    __local const W *column = (__local const W *)(tile + y * TILE_PITCH) + x;
    __global W *to = dst + g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] +
                     (y0 + (long)y) * g.dst_step[2] + x0 + (long)x;
    W at[RUN + TAPS_Y - 1u], made[RUN];
#pragma unroll
    for (uint k = 0u; k < RUN + TAPS_Y - 1u; k++)
        at[k] = column[k * TILE_PITCH * VL];
#pragma unroll
    for (uint k = 0u; k < RUN; k++) {
        made[k] = (W)0;
#pragma unroll
        for (uint j = 0u; j < TAPS_Y; j++)
            made[k] = fma(WEIGHT((TAPS_X + EACH - 1u) / EACH * EACH + j), at[k + j], made[k]);
    }
    put_column(to, g.dst_step[2], made, RUN, (long)(high - y), &g);
}

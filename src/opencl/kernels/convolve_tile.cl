/*
 * The product of two lines of few taps in one pass (filter_tile.h).
 */
#include "opencl/kernels/filter_tile.h"

#define TURN (GROUP / ACROSS) /* rows that a group sums at a time */

/* EACH results along x to `made`, from units that an item looks at in global memory. */
#define sum_row(made, from, weights)                                                               \
    do {                                                                                           \
        W at_[NEEDED(EACH) * VL], sum_[EACH];                                                      \
        get_units(at_, (from));                                                                    \
        sum_units(sum_, at_, (weights));                                                           \
        store_line((made), 0u, sum_);                                                              \
    } while (0)

/* Sums along x of all rows of the tile, from row 0 of the plane on, which has all columns. */
AIRY_INLINE void sum_rows(__local V *made, __global const T *from, long y, W outside,
                          const W *weights, const airy_filter_geom *g)
{
    y += (long)(get_local_id(0) / ACROSS);
#pragma unroll
    for (uint t = 0u; t < ROWS / TURN; t++) {
        const long row = airy_border_index(y, g->n[1], g->border);
        if (row >= 0)
            sum_row(made, (__global const V *)(from + row * g->src_step[2]), weights);
        else {
            W at[NEEDED(EACH) * VL], sum[EACH];
#pragma unroll
            for (uint k = 0u; k < NEEDED(EACH) * VL; k++)
                at[k] = outside;
            sum_units(sum, at, weights);
            store_line(made, 0u, sum);
        }
        made += TURN * TILE_PITCH;
        y += TURN;
    }
}

/*
 * Along x, then along y. Mapping: a group makes the results of x for a tile of 64 columns, EACH of
 * a row an item, and from these HIGH rows of results, RUN of a column an item. Items take what they
 * look at from the image where rows have all of it, else from local memory, where results of x take
 * its place. Groups go down strips, and the strips at both ends, which take longer, come first.
 * Local memory: 21 KiB with 15 x 15 taps. Barriers: one; at the ends of rows one more, and one a
 * turn.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_tile(__global const T *src, WEIGHTS, __global W *dst, W outside, const airy_filter_geom g)
{
    __local V tile[ROWS * TILE_PITCH];
    const uint item = get_local_id(0), plane = (uint)get_global_id(2);
    const uint strip = get_global_id(1) > 0 ? (uint)get_global_id(1) - 1u : g.strips - 1u;
    const long image = (long)(plane / (uint)g.out[0]), z = (long)(plane % (uint)g.out[0]);
    const long x0 = (long)strip * WIDE, y0 = (long)get_group_id(0) * HIGH;
    const long from_y = y0 + g.offset[1] - (long)(TAPS_Y - 1u),
               from_x = x0 + g.offset[2] - (long)(TAPS_X - 1u) - SHIFT;
    __global const T *from = src + g.src_offset + image * g.src_step[0];
    const uint row = item / ACROSS, unit = item % ACROSS * (EACH / VL);
    __local V *made = tile + row * TILE_PITCH + unit;
    __global const T *first = from + z * g.src_step[1] + from_x + (long)(unit * VL);
    if (from_x < 0 || from_x + (long)(NEEDED(WIDE) * VL) > g.n[2]) {
        stage((__local W *)tile, TILE_PITCH * VL, ROWS, WIDE + TAPS_X - 1u + SHIFT, from, z, from_y,
              from_x, outside, &g);
        AIRY_FETCHED();
        barrier(CLK_LOCAL_MEM_FENCE);
        AIRY_UNROLL(1)
        for (uint t = 0u; t < ROWS / TURN; t++) {
            W at[NEEDED(EACH) * VL], sum[EACH];
            get_units(at, made);
            barrier(CLK_LOCAL_MEM_FENCE);
            sum_units(sum, at, TABLE_AT(0));
            store_line(made, 0u, sum);
            made += TURN * TILE_PITCH;
        }
    } else if (from_y < 0 || from_y + (long)ROWS > g.n[1])
        sum_rows(made, first, from_y, outside, TABLE_AT(0), &g);
    else {
        __global const V *at = (__global const V *)(first + (from_y + (long)row) * g.src_step[2]);
#pragma unroll
        for (uint t = 0u; t < ROWS / TURN; t++) {
            sum_row(made, at, TABLE_AT(0));
            made += TURN * TILE_PITCH;
            at += TURN * (g.src_step[2] / VL);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint x = item % WIDE, y = item / WIDE * RUN;
    const long high = g.out[1] - y0 - (long)y;
    if (x0 + (long)x >= g.out[2] || high <= 0)
        return;
    __local const W *column = (__local const W *)(tile + y * TILE_PITCH) + x;
    __global W *to = dst + g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] +
                     (y0 + (long)y) * g.dst_step[2] + x0 + (long)x;
    W sums[RUN];
    sum_down(sums, column, TILE_PITCH * VL, TABLE_AT(AFTER(TAPS_X)));
    put_column(to, g.dst_step[2], sums, RUN, high, &g);
}

/*
 * The product of two lines of few taps in one pass (filter_tile.h).
 */
#include "opencl/kernels/filter_tile.h"

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
    __local V tile[ROWS * TILE_PITCH];
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
        for (uint row = item / ACROSS; row < ROWS; row += GROUP / ACROSS) {
            const long from_row = row_of(from_y, row, rows, &g);
            stage_row(tile + row * TILE_PITCH, from + from_row * g.src_step[2], false,
                      from_z >= 0 && from_row >= 0, from_x, outside, &g);
        }
        AIRY_FETCHED();
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (uint t = 0u; t < ROWS * ACROSS / GROUP; t++) {
        const uint row = item / ACROSS + t * (GROUP / ACROSS);
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
    W made[RUN];
    sum_down(made, column, TILE_PITCH * VL, TABLE_AT(AFTER(TAPS_X)));
    put_column(to, g.dst_step[2], made, RUN, (long)(high - y), &g);
}

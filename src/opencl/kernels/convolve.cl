/*
 * Convolution: all taps at once from a tile in local memory, or one axis after the other.
 *
 * Build options: T: type of the source; W: of the result and the arithmetic.
 * Groups in the third dimension: images x planes of results (passes along z: runs of them).
 */
#include "shared/filter_geom.h"

#ifndef T
#define T float
#endif
#ifndef W
#define W float
#endif

/* Element (z, y, x) of an image of the source, borders included. */
AIRY_INLINE W element(__global const T *image, long z, long y, long x, W outside,
                      const airy_filter_geom *g)
{
    z = airy_border_index(z, g->n[0], g->border);
    y = airy_border_index(y, g->n[1], g->border);
    x = airy_border_index(x, g->n[2], g->border);
    if (z < 0 || y < 0 || x < 0)
        return outside;
    return (W)image[z * g->src_step[1] + y * g->src_step[2] + x];
}

/*
 * Mapping: groups of AIRY_FILTER_X x AIRY_FILTER_Y items make AIRY_FILTER_X x (AIRY_FILTER_Y *
 * AIRY_FILTER_EACH) results. Local memory: tile_width x tile_height elements, which is the group's
 * results with the taps around them. Barriers: two a tap along z.
 */
__kernel __attribute__((reqd_work_group_size(AIRY_FILTER_X, AIRY_FILTER_Y, 1))) void
convolve_direct(__global const T *src, __global const W *weights, __global W *dst, __local W *tile,
                W outside, const airy_filter_geom g)
{
    const uint item = get_local_id(1) * AIRY_FILTER_X + get_local_id(0);
    const long plane = (long)get_group_id(2), image = plane / g.out[0], z = plane % g.out[0];
    const long x0 = (long)get_group_id(0) * AIRY_FILTER_X,
               y0 = (long)get_group_id(1) * (AIRY_FILTER_Y * AIRY_FILTER_EACH);
    __global const T *from = src + g.src_offset + image * g.src_step[0];
    W sum[AIRY_FILTER_EACH];
    for (uint k = 0u; k < AIRY_FILTER_EACH; k++)
        sum[k] = (W)0;
    for (uint c = 0u; c < g.taps[0]; c++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = item; i < g.tile_width * g.tile_height; i += AIRY_FILTER_X * AIRY_FILTER_Y) {
            const long y = (long)(i / g.tile_width), x = (long)(i % g.tile_width);
            tile[i] = element(from, z + g.offset[0] - (long)(g.taps[0] - 1u) + (long)c,
                              y0 + y + g.offset[1] - (long)(g.taps[1] - 1u),
                              x0 + x + g.offset[2] - (long)(g.taps[2] - 1u), outside, &g);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint b = 0u; b < g.taps[1]; b++)
            for (uint a = 0u; a < g.taps[2]; a++) {
                const W w = weights[(c * g.taps[1] + b) * g.taps[2] + a];
                __local const W *at = tile + (get_local_id(1) + b) * g.tile_width +
                                      get_local_id(0) + a;
                for (uint k = 0u; k < AIRY_FILTER_EACH; k++)
                    sum[k] = fma(w, at[k * AIRY_FILTER_Y * g.tile_width], sum[k]);
            }
    }
    const long x = x0 + (long)get_local_id(0);
    for (uint k = 0u; k < AIRY_FILTER_EACH; k++) {
        const long y = y0 + (long)(get_local_id(1) + k * AIRY_FILTER_Y);
        if (x < g.out[2] && y < g.out[1])
            dst[g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] + y * g.dst_step[2] + x] =
                sum[k];
    }
}

/* Kernels whose tile is larger than local memory. Mapping: an item a result; any work-group. */
__kernel void convolve_far(__global const T *src, __global const W *weights, __global W *dst,
                           W outside, const airy_filter_geom g)
{
    const long x = (long)get_global_id(0), y = (long)get_global_id(1),
               plane = (long)get_global_id(2), image = plane / g.out[0], z = plane % g.out[0];
    if (x >= g.out[2] || y >= g.out[1])
        return;
    __global const T *from = src + g.src_offset + image * g.src_step[0];
    W sum = (W)0;
    for (uint c = 0u; c < g.taps[0]; c++)
        for (uint b = 0u; b < g.taps[1]; b++)
            for (uint a = 0u; a < g.taps[2]; a++)
                sum = fma(weights[(c * g.taps[1] + b) * g.taps[2] + a],
                          element(from, z + g.offset[0] - (long)(g.taps[0] - 1u) + (long)c,
                                  y + g.offset[1] - (long)(g.taps[1] - 1u) + (long)b,
                                  x + g.offset[2] - (long)(g.taps[2] - 1u) + (long)a, outside, &g),
                          sum);
    dst[g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] + y * g.dst_step[2] + x] = sum;
}

AIRY_INLINE void put(__global W *dst, long at, W v, const airy_filter_geom *g)
{
    dst[at] = g->add != 0u ? dst[at] + v : v;
}

/*
 * Along x. Mapping: groups of AIRY_FILTER_LINE items make AIRY_FILTER_LINE * AIRY_FILTER_LINE_EACH
 * results of one row. Local memory: as many elements and taps - 1. One barrier.
 */
__kernel __attribute__((reqd_work_group_size(AIRY_FILTER_LINE, 1, 1))) void
convolve_x(__global const T *src, __global const W *weights, __global W *dst, __local W *line,
           W outside, const airy_filter_geom g)
{
    const long y = (long)get_group_id(1), plane = (long)get_group_id(2), image = plane / g.out[0],
               z = plane % g.out[0];
    const long x0 = (long)get_group_id(0) * (AIRY_FILTER_LINE * AIRY_FILTER_LINE_EACH);
    __global const T *from = src + g.src_offset + image * g.src_step[0];
    const uint length = AIRY_FILTER_LINE * AIRY_FILTER_LINE_EACH + g.taps[2] - 1u;
    for (uint i = get_local_id(0); i < length; i += AIRY_FILTER_LINE) {
        const long x = x0 + (long)i + g.offset[2] - (long)(g.taps[2] - 1u);
        const bool needed = x0 + (long)i < g.out[2] + (long)(g.taps[2] - 1u);
        line[i] = needed ? element(from, z, y, x, outside, &g) : (W)0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    W sum[AIRY_FILTER_LINE_EACH];
    for (uint k = 0u; k < AIRY_FILTER_LINE_EACH; k++)
        sum[k] = (W)0;
    for (uint j = 0u; j < g.taps[2]; j++) {
        const W w = weights[j];
        for (uint k = 0u; k < AIRY_FILTER_LINE_EACH; k++)
            sum[k] = fma(w, line[k * AIRY_FILTER_LINE + get_local_id(0) + j], sum[k]);
    }
    for (uint k = 0u; k < AIRY_FILTER_LINE_EACH; k++) {
        const long x = x0 + (long)(k * AIRY_FILTER_LINE + get_local_id(0));
        if (x < g.out[2])
            put(dst,
                g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] + y * g.dst_step[2] + x,
                sum[k], &g);
    }
}

/*
 * Along y or z (g.axis). Mapping: an item makes AIRY_FILTER_RUN results, one behind the other along
 * the axis; the first dimension is x, the second runs or rows, the third images x planes or runs.
 * Any work-group. No local memory, no barrier.
 */
__kernel void convolve_run(__global const T *src, __global const W *weights, __global W *dst,
                           W outside, const airy_filter_geom g)
{
    const bool along_z = g.axis == 0u;
    const uint taps = g.taps[g.axis];
    const long runs = (g.out[0] + AIRY_FILTER_RUN - 1u) / AIRY_FILTER_RUN;
    const long x = (long)get_global_id(0), third = (long)get_global_id(2);
    const long image = third / (along_z ? runs : g.out[0]);
    const long first = AIRY_FILTER_RUN * (along_z ? third % runs : (long)get_global_id(1)),
               other = along_z ? (long)get_global_id(1) : third % g.out[0];
    if (x >= g.out[2] || (along_z ? other >= g.out[1] : first >= g.out[1]))
        return;
    __global const T *from = src + g.src_offset + image * g.src_step[0];
    const long least = first + g.offset[g.axis] - (long)(taps - 1u);
    W sum[AIRY_FILTER_RUN];
#pragma unroll
    for (uint k = 0u; k < AIRY_FILTER_RUN; k++)
        sum[k] = (W)0;
    /* Element i of the run's source counts in result k with weight i - k. */
    for (uint i = 0u; i < taps + AIRY_FILTER_RUN - 1u; i++) {
        const long at = least + (long)i;
        const W v = along_z ? element(from, at, other, x, outside, &g)
                            : element(from, other, at, x, outside, &g);
        if (i >= AIRY_FILTER_RUN - 1u && i < taps) {
#pragma unroll
            for (uint k = 0u; k < AIRY_FILTER_RUN; k++)
                sum[k] = fma(weights[i - k], v, sum[k]);
        } else {
#pragma unroll
            for (uint k = 0u; k < AIRY_FILTER_RUN; k++)
                if (i >= k && i - k < taps)
                    sum[k] = fma(weights[i - k], v, sum[k]);
        }
    }
#pragma unroll
    for (uint k = 0u; k < AIRY_FILTER_RUN; k++) {
        const long at = first + (long)k, z = along_z ? at : other, y = along_z ? other : at;
        if (z < g.out[0] && y < g.out[1])
            put(dst,
                g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] + y * g.dst_step[2] + x,
                sum[k], &g);
    }
}

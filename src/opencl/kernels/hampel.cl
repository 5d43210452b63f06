/*
 * The second half of a Hampel filter: dst holds the medians of the boxes, and elements that are not
 * far from theirs come back. MAD is not looked for: an element is beyond limit x MAD where more than
 * half of its box are within its own distance over limit.
 *
 * Build option: T, the type of the elements.
 * Mapping: one item an element; any work-group. No local memory, no barriers.
 */
#include "shared/hampel_geom.h"

#ifndef T
#define T float
#endif

#ifdef AIRY_FP64

/* Elements of row y of plane z from x0 on, `taps` of them, with limit |element - median| < off. */
AIRY_INLINE uint near_in_row(__global const T *image, long z, long y, long x0, double median,
                             double off, const airy_hampel_geom *g)
{
    const uint taps = g->box.taps[2];
    const long n = g->box.n[2];
    const bool inside = x0 >= 0 && x0 + (long)taps <= n;
    uint near = 0;
    z = airy_border_index(z, g->box.n[0], g->box.border);
    y = airy_border_index(y, g->box.n[1], g->box.border);
    if (z < 0 || y < 0)
        return g->limit * fabs(g->value - median) < off ? taps : 0;
    __global const T *row = image + z * g->box.src_step[1] + y * g->box.src_step[2];
    for (uint i = 0; i < taps; i++) {
        const long x = inside ? x0 + (long)i : airy_border_index(x0 + (long)i, n, g->box.border);
        const double v = x < 0 ? g->value : (double)row[x];
        near += g->limit * fabs(v - median) < off ? 1 : 0;
    }
    return near;
}

__kernel void hampel(__global const T *src, __global T *dst, const airy_hampel_geom g)
{
    const ulong i = get_global_id(0);
    if (i >= g.count)
        return;
    const ulong nx = (ulong)g.box.n[2], ny = (ulong)g.box.n[1], nz = (ulong)g.box.n[0];
    const long x = (long)(i % nx), y = (long)(i / nx % ny), z = (long)(i / nx / ny % nz),
               k = (long)(i / nx / ny / nz);
    __global const T *image = src + g.box.src_offset + k * g.box.src_step[0];
    __global T *result = dst + g.box.dst_offset + k * g.box.dst_step[0] + z * g.box.dst_step[1] +
                         y * g.box.dst_step[2] + x;
    const T element = image[z * g.box.src_step[1] + y * g.box.src_step[2] + x];
    const double median = (double)*result, off = fabs((double)element - median);
    uint near = 0;
    for (uint c = 0; c < g.box.taps[0]; c++)
        for (uint b = 0; b < g.box.taps[1]; b++)
            near += near_in_row(image, z + g.box.first[0] + (long)c, y + g.box.first[1] + (long)b,
                                x + g.box.first[2], median, off, &g);
    if (near <= g.box.count / 2)
        *result = element;
}

#endif

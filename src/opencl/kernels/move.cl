/*
 * Elements by the places of each axis.
 *
 * Build option: T, an unsigned type of the element's size.
 * Mapping: x, y, and the two slow axes together; one item an element. No local memory, no barriers.
 */
#include "shared/move_geom.h"

#ifndef T
#define T uint
#endif

__kernel void move(__global T *dst, __global const T *src, __global const long *place,
                   const airy_move_geom g)
{
    const long x = (long)get_global_id(0), y = (long)get_global_id(1);
    const long z = (long)get_global_id(2) % g.n[1], w = (long)get_global_id(2) / g.n[1];
    if (x >= g.n[3] || y >= g.n[2] || w >= g.n[0])
        return;
    const long a = place[g.table[0] + w], b = place[g.table[1] + z], c = place[g.table[2] + y],
               d = place[g.table[3] + x];
    const long to = g.dst_offset + w * g.dst_step[0] + z * g.dst_step[1] + y * g.dst_step[2] +
                    x * g.dst_step[3];
    const int outside = a < 0 || b < 0 || c < 0 || d < 0;
    dst[to] = outside ? (T)g.pattern : src[g.src_offset + a + b + c + d];
}

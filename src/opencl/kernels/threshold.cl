/*
 * mask = 1 where an element is larger than a value.
 *
 * Build options: T: type of the elements; REAL: float where it holds them, or double; QUADS: 1 where
 * neither array has gaps and both begin at a multiple of four elements.
 * Mapping: with QUADS an item takes THRESHOLD_QUADS times four elements, a group's quads next to each
 * other; else an element. Any work-group.
 */
#include "opencl/kernels/array_box.h"
#include "shared/reduce_geom.h"

#ifndef T
#define T float
#endif
#ifndef REAL
#define REAL float
#endif
#ifndef QUADS
#define QUADS 1
#endif

#ifdef AIRY_FP64

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define T4          JOIN(T, 4)
#define REAL4       JOIN(REAL, 4)
#define TO_REAL     JOIN(JOIN(convert_, REAL), _rtn)
#define TO_REAL4    JOIN(convert_, REAL4)

/* What is above a number is above the next lower one of fewer digits. */
__kernel void threshold(__global const T *src, __global uchar *mask, const airy_reduce_geom g)
{
    const REAL value = TO_REAL(g.pivot);
#if QUADS
    __global const T4 *from = (__global const T4 *)(src + g.src.offset);
    __global uchar4 *to = (__global uchar4 *)(mask + g.mask.offset);
    const ulong quads = g.count / 4ul,
                first = get_group_id(0) * get_local_size(0) * AIRY_THRESHOLD_QUADS +
                        get_local_id(0);
    for (uint k = 0u; k < AIRY_THRESHOLD_QUADS; k++) {
        const ulong i = first + k * get_local_size(0);
        if (i < quads) {
            const REAL4 x = TO_REAL4(from[i]);
            to[i] = (uchar4)(x.x > value ? 1 : 0, x.y > value ? 1 : 0, x.z > value ? 1 : 0,
                             x.w > value ? 1 : 0);
        }
    }
    const ulong rest = 4ul * quads + get_global_id(0);
    if (rest < g.count)
        mask[g.mask.offset + rest] = (REAL)src[g.src.offset + rest] > value ? 1 : 0;
#else
    const ulong i = get_global_id(0);
    if (i < g.count)
        mask[box_place(&g.mask, i)] = (REAL)src[box_place(&g.src, i)] > value ? 1 : 0;
#endif
}

#endif

/*
 * Every element of a box becomes the pattern. T: an unsigned type of the element's size.
 *
 * Mapping: one work-item an element, in one dimension; more items than elements are harmless. Any
 * work-group size. No local memory, no barrier.
 */
#include "shared/fill_geom.h"

#ifndef T
#define T uint
#endif

__kernel void fill_box(__global T *dst, const airy_fill_geom g)
{
    const ulong i = get_global_id(0);
    if (i >= g.total)
        return;
    const ulong x = i % g.count0, row = i / g.count0;
    const ulong y = row % g.count1, slice = row / g.count1;
    const ulong z = slice % g.count2, volume = slice / g.count2;
    dst[g.offset + x + y * g.step1 + z * g.step2 + volume * g.step3] = (T)g.pattern;
}

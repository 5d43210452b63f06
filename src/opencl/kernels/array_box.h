/* Elements of an array that may have gaps. */
#ifndef AIRY_KERNELS_ARRAY_BOX_H
#define AIRY_KERNELS_ARRAY_BOX_H

#include "shared/array_box.h"

/* Place of element i in raster order. Arrays without gaps are one row, and need no division. */
AIRY_INLINE ulong box_place(const airy_array_box *box, ulong i)
{
    if (i < box->count0)
        return box->offset + i * box->step0;
    const ulong x = i % box->count0, row = i / box->count0;
    const ulong y = row % box->count1, slice = row / box->count1;
    const ulong z = slice % box->count2, volume = slice / box->count2;
    return box->offset + x * box->step0 + y * box->step1 + z * box->step2 + volume * box->step3;
}

#endif

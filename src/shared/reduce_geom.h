/* Walks over an array for statistics. The same on host and device. */
#ifndef AIRY_SHARED_REDUCE_GEOM_H
#define AIRY_SHARED_REDUCE_GEOM_H

#ifndef __OPENCL_VERSION__
#include <math.h>
#endif

#include "shared/array_box.h"

typedef struct airy_reduce_geom {
    airy_array_box src, mask;
    airy_u64 count;       /* elements */
    airy_u64 limit;       /* of a list */
    airy_u64 first, span; /* keys from first to first + span */
    double lo, hi;        /* elements that are looked at */
    double core_lo, core_hi, window_lo, window_hi, pivot, center;
    airy_u32 deviation; /* compared by the distance from center */
    airy_u32 shift;
    airy_u32 bins;
    airy_u32 lists; /* whether a list is wanted */
} airy_reduce_geom;
AIRY_ASSERT_SIZE(airy_reduce_geom, 240);

/* Items of a work-group, and elements an item takes at a time. Part of the order of sums. */
#define AIRY_REDUCE_GROUP_ITEMS 256u
#define AIRY_REDUCE_EACH        8u

/* Quads of elements that an item of a threshold takes. */
#define AIRY_THRESHOLD_QUADS 2u

/* What a group found. */
typedef struct airy_reduce_part {
    airy_u64 masked, count, below, window, tails;
    double sum, squares, min, max;
} airy_reduce_part;
AIRY_ASSERT_SIZE(airy_reduce_part, 72);

/* The bin of `bins` equal ones from lo to hi whose edges enclose x, which is in [lo, hi]. */
static inline airy_u32 airy_reduce_bin(double x, double lo, double hi, airy_u32 bins)
{
    const double width = hi - lo, n = (double)bins, last = n - 1.0;
    double bin = floor((x - lo) / width * n);
    bin = bin > last ? last : bin;
    /* Rounding moves x by less than a bin. */
    if (bin > 0.0 && x < lo + bin * width / n)
        bin -= 1.0;
    else if (bin < last && x >= lo + (bin + 1.0) * width / n)
        bin += 1.0;
    return (airy_u32)bin;
}

#endif

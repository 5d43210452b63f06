/* A box of elements in a buffer, fastest axis first. */
#ifndef AIRY_SHARED_FILL_GEOM_H
#define AIRY_SHARED_FILL_GEOM_H

#include "shared/scalar.h"

typedef struct airy_fill_geom {
    airy_u64 offset;                 /* of the first element, in elements */
    airy_u64 step1, step2, step3;    /* elements from one row, slice, volume to the next */
    airy_u64 count0, count1, count2; /* elements of a row, rows of a slice, slices of a volume */
    airy_u64 total;                  /* elements of the box */
    airy_u64 pattern;                /* the value in its low bytes */
} airy_fill_geom;
AIRY_ASSERT_SIZE(airy_fill_geom, 72);

#endif

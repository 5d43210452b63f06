/* Where the elements of an array lie. The same on host and device. */
#ifndef AIRY_SHARED_ARRAY_BOX_H
#define AIRY_SHARED_ARRAY_BOX_H

#include "shared/scalar.h"

/* Fastest axis first, in elements; axes without gaps between them are one. */
typedef struct airy_array_box {
    airy_u64 offset; /* of the first element */
    airy_u64 step0, step1, step2, step3;
    airy_u64 count0, count1, count2; /* of a row, rows of a slice, slices of a volume */
} airy_array_box;
AIRY_ASSERT_SIZE(airy_array_box, 64);

#endif

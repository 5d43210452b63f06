/* Operations element by element on a device. The same on host and device. */
#ifndef AIRY_SHARED_ELEMENT_GEOM_H
#define AIRY_SHARED_ELEMENT_GEOM_H

#include "shared/array_box.h"

/* What it is computed in. */
#define AIRY_ELEMENT_F32  0
#define AIRY_ELEMENT_F64  1
#define AIRY_ELEMENT_I64  2
#define AIRY_ELEMENT_WIDE 3
/* The CPU's own, for whole numbers of fewer bits; they stay at their limits. */
#define AIRY_ELEMENT_I32 4
#define AIRY_ELEMENT_U8  5
#define AIRY_ELEMENT_U16 6

/* Operations: airy_operator from 0, airy_function from 32, and those of the other functions. */
#define AIRY_ELEMENT_FUNCTION 32u
#define AIRY_ELEMENT_WHERE    64u
#define AIRY_ELEMENT_CLAMP    65u
#define AIRY_ELEMENT_LINEAR   66u
#define AIRY_ELEMENT_COPY     67u

/* A whole number in (-2^64, 2^64); 0 is not negative. */
typedef struct airy_wide {
    airy_u64 size;
    airy_u64 negative;
} airy_wide;
AIRY_ASSERT_SIZE(airy_wide, 16);

typedef struct airy_element_geom {
    airy_array_box dst, a, b, c;
    airy_u64 count;
    airy_wide wide_b, wide_c; /* numbers in place of arrays, */
    airy_u64 bits_b, bits_c;  /* as f64, */
    float narrow_b, narrow_c; /* as f32 */
    airy_u32 op, pad;
} airy_element_geom;
AIRY_ASSERT_SIZE(airy_element_geom, 328);

#endif

/* What becomes of a spectrum's bin F, on host and device. */
#ifndef AIRY_SHARED_OCT_GEOM_H
#define AIRY_SHARED_OCT_GEOM_H

#ifndef __OPENCL_VERSION__
#include <math.h>
#endif

#include "shared/scalar.h"

/* What is stored of F: values of airy_oct_output. */
#define AIRY_OCT_AS_DB        0
#define AIRY_OCT_AS_MAGNITUDE 1
#define AIRY_OCT_AS_POWER     2
#define AIRY_OCT_AS_PHASE     3
#define AIRY_OCT_AS_COMPLEX   4

/* Powers below count as this much: -300 dB instead of minus infinity. */
#define AIRY_OCT_LEAST_POWER 1e-30f

/* power' = power_scale |F|^2, magnitude' = magnitude_scale |F|; g = v scale + offset */
typedef struct airy_oct_finish {
    float power_scale, magnitude_scale;
    float scale, offset;
    float top; /* of an integer result: 255 or 65535; 0: the result is f32 */
    airy_u32 display;
} airy_oct_finish;
AIRY_ASSERT_SIZE(airy_oct_finish, 24);

/*
 * g, less what is there at this bin afterwards, as a number that an integer result truncates. What is
 * not a number becomes 0.
 */
static inline float airy_oct_integer(float g, float top)
{
    const float v = g * top;
    return v >= 0.0f ? (v < top ? v : top) : 0.0f;
}

#endif

/*
 * Which raw values of a frame are left out, and which are saturated; worked out once in the front
 * for the frame's dtype.
 * Integers: the interval [lo, hi] of raw values, in the dtype's own range (signed: two's
 *           complement in 64 bits); lo > hi: none. hi above a signed dtype's range: the interval
 *           goes on with negative values, to hi - 2^32.
 * Floats: the interval of doubles, and everything not finite; float_saturation NaN: nothing is
 *         saturated.
 */
#ifndef AIRY_SHARED_PIXEL_TEST_H
#define AIRY_SHARED_PIXEL_TEST_H

#include "shared/scalar.h"

typedef struct airy_pixel_test {
    airy_i64 lo, hi;     /* integers; u32 and smaller fit */
    airy_i64 saturation; /* integers: raw >= it is saturated; above the dtype's range: never */
    double float_lo, float_hi, float_saturation;
} airy_pixel_test;
AIRY_ASSERT_SIZE(airy_pixel_test, 48);

#endif

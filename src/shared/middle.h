/* The mean of the two elements in the middle. The same on host and device. */
#ifndef AIRY_SHARED_MIDDLE_H
#define AIRY_SHARED_MIDDLE_H

#ifndef __OPENCL_VERSION__
#include <math.h>
#endif

/* Rounded once: half of a subnormal number may be none, the sum of two large ones may overflow. */
static inline double airy_middle(double a, double b)
{
    const double sum = a + b;
    return isfinite(sum) ? 0.5 * sum : 0.5 * a + 0.5 * b;
}

#endif

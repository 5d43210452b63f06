/* Distances between numbers in units in the last place of their dtype. */
#ifndef AIRY_TOOLS_CLI_ULP_H
#define AIRY_TOOLS_CLI_ULP_H

#include <math.h>
#include <string.h>

#include "airy/array.h"

/* Place of a number among all of its type, in the order of the values; both zeros are 0. */
static inline int64_t ulp_place(airy_dtype dtype, double x)
{
    if (dtype == AIRY_DTYPE_F32) {
        const float narrow = (float)x;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof(bits));
        const int64_t size = bits & UINT32_C(0x7fffffff);
        return bits >> 31 ? -size : size;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    const int64_t size = (int64_t)(bits & ~(UINT64_C(1) << 63));
    return bits >> 63 ? -size : size;
}

/* Of integers their difference; infinite where only one is NaN. */
static inline double ulp_distance(airy_dtype dtype, double a, double b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    if (isnan(a) || isnan(b))
        return (double)INFINITY;
    if (!airy_dtype_is_float(dtype))
        return fabs(a - b);
    return fabs((double)ulp_place(dtype, a) - (double)ulp_place(dtype, b));
}

#endif

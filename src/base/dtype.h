/* Elements of arrays by their dtype. */
#ifndef AIRY_BASE_DTYPE_H
#define AIRY_BASE_DTYPE_H

#include <stdint.h>

#include "airy/dtype.h"

/* Element i as f64, to which integers of 64 bits are rounded. */
static inline double airy_dtype_value(const void *data, airy_dtype dtype, size_t i)
{
    switch (dtype) {
    case AIRY_DTYPE_U8:
        return ((const uint8_t *)data)[i];
    case AIRY_DTYPE_I8:
        return ((const int8_t *)data)[i];
    case AIRY_DTYPE_U16:
        return ((const uint16_t *)data)[i];
    case AIRY_DTYPE_I16:
        return ((const int16_t *)data)[i];
    case AIRY_DTYPE_U32:
        return ((const uint32_t *)data)[i];
    case AIRY_DTYPE_I32:
        return ((const int32_t *)data)[i];
    case AIRY_DTYPE_U64:
        return (double)((const uint64_t *)data)[i];
    case AIRY_DTYPE_I64:
        return (double)((const int64_t *)data)[i];
    case AIRY_DTYPE_F64:
        return ((const double *)data)[i];
    default:
        return (double)((const float *)data)[i];
    }
}

#endif

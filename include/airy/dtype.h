/** Element types of arrays, files and frames. */
#ifndef AIRY_DTYPE_H
#define AIRY_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "airy/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum airy_dtype {
    AIRY_DTYPE_F32 = 0,
    AIRY_DTYPE_U8,
    AIRY_DTYPE_I8,
    AIRY_DTYPE_U16,
    AIRY_DTYPE_I16,
    AIRY_DTYPE_U32,
    AIRY_DTYPE_I32,
    AIRY_DTYPE_U64,
    AIRY_DTYPE_I64,
    AIRY_DTYPE_F64,
    AIRY_DTYPE_COUNT
} airy_dtype;

/** Return the bytes of one element: 1, 2, 4 or 8; 0 for a value that is no dtype. Any thread. */
AIRY_API size_t airy_dtype_size(airy_dtype dtype);

/** Return NumPy's name, such as "uint32"; "?" for a value that is no dtype. Any thread. */
AIRY_API const char *airy_dtype_name(airy_dtype dtype);

/**
 * Parse a name: "uint32", "u32" or "<u4"-like names (little-endian or '|' only). AIRY_ERR_DTYPE if
 * unknown.
 */
AIRY_API airy_status airy_dtype_parse(airy_dtype *dtype, const char *name);

AIRY_API bool airy_dtype_is_float(airy_dtype dtype);
AIRY_API bool airy_dtype_is_signed(airy_dtype dtype); /**< signed integers and floats */

/**
 * Round a number that was given for pixels of this dtype, such as a dummy value, to the dtype: of
 * f32 the float nearest to it, where one is finite (0.1, 3.4028235e38); else the number. Any
 * thread.
 */
AIRY_API double airy_dtype_nearest(airy_dtype dtype, double value);

#ifdef __cplusplus
}
#endif
#endif

/* The names of element types in kernels, and their limits. */
#include "opencl/cl_move.h"

const struct airy_cl_type airy_cl_types[AIRY_DTYPE_COUNT] = {
    [AIRY_DTYPE_F32] = {"float", "0", "0"},
    [AIRY_DTYPE_F64] = {"double", "0", "0"},
    [AIRY_DTYPE_U8] = {"uchar", "0", "UCHAR_MAX"},
    [AIRY_DTYPE_I8] = {"char", "SCHAR_MIN", "SCHAR_MAX"},
    [AIRY_DTYPE_U16] = {"ushort", "0", "USHRT_MAX"},
    [AIRY_DTYPE_I16] = {"short", "SHRT_MIN", "SHRT_MAX"},
    [AIRY_DTYPE_U32] = {"uint", "0", "UINT_MAX"},
    [AIRY_DTYPE_I32] = {"int", "INT_MIN", "INT_MAX"},
    [AIRY_DTYPE_U64] = {"ulong", "0", "ULONG_MAX"},
    [AIRY_DTYPE_I64] = {"long", "LONG_MIN", "LONG_MAX"}};

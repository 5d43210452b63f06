/* Fixed-width scalars under one name in C11 and OpenCL C. */
#ifndef AIRY_SHARED_SCALAR_H
#define AIRY_SHARED_SCALAR_H

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
typedef uchar airy_u8;
typedef ushort airy_u16;
typedef uint airy_u32;
typedef int airy_i32;
typedef ulong airy_u64;
typedef long airy_i64;
#define AIRY_ASSERT_SIZE(type, size)
#else
#include <stdint.h>
typedef uint8_t airy_u8;
typedef uint16_t airy_u16;
typedef uint32_t airy_u32;
typedef int32_t airy_i32;
typedef uint64_t airy_u64;
typedef int64_t airy_i64;
#define AIRY_ASSERT_SIZE(type, size)                                                               \
    _Static_assert(sizeof(type) == (size), #type " has another size")
#endif

#endif

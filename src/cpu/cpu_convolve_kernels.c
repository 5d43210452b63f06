/* The convolution kernels for any machine, and the choice among the sets. */
#include <string.h>

#include "base/cpu.h"

/* Vectors of 16 bytes, which every machine has. */

#define SET  portable
#define MANY 2
typedef float four32 __attribute__((vector_size(16)));
typedef double two64 __attribute__((vector_size(16)));
#define DEFINE_VECTOR(type, V, load, store, splat)                                                 \
    static inline V load(const type *p)                                                            \
    {                                                                                              \
        V x;                                                                                       \
        memcpy(&x, p, sizeof(x));                                                                  \
        return x;                                                                                  \
    }                                                                                              \
    static inline void store(type *p, V x)                                                         \
    {                                                                                              \
        memcpy(p, &x, sizeof(x));                                                                  \
    }                                                                                              \
    static inline V splat(type x)                                                                  \
    {                                                                                              \
        return x - (V){0};                                                                         \
    }
DEFINE_VECTOR(float, four32, load32, store32, splat32)
DEFINE_VECTOR(double, two64, load64, store64, splat64)
#define MADD(a, b, c) ((c) + (a) * (b))
#define F32           four32
#define WIDTH32       4
#define LOAD32        load32
#define STORE32       store32
#define SPLAT32       splat32
#define MADD32        MADD
#define F64           two64
#define WIDTH64       2
#define LOAD64        load64
#define STORE64       store64
#define SPLAT64       splat64
#define MADD64        MADD
#include "cpu/convolve_tmpl.c"

const struct airy_convolve_kernels *airy_convolve_kernels(void)
{
#if defined(__x86_64__)
    const unsigned flags = airy_cpu_flags();
    if (flags & AIRY_CPU_AVX512)
        return &airy_convolve_avx512;
    if (flags & AIRY_CPU_AVX2)
        return &airy_convolve_avx2;
#endif
    return &airy_convolve_portable;
}

/* Vectors of 16 bytes, which every machine has, for the kernels of no instruction set. */
#ifndef AIRY_CPU_CPU_VECTOR_H
#define AIRY_CPU_CPU_VECTOR_H

#include <string.h>

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
#undef DEFINE_VECTOR

#endif

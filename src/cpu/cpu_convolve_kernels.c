/* The convolution kernels for any machine, and the choice among the sets. */
#include "base/cpu.h"

/* Four elements that a compiler may put into one register. */
#define SET portable
struct four32 {
    float v[4];
};
struct four64 {
    double v[4];
};
#define DEFINE_FOUR(type, V, load, store, splat, madd)                                             \
    static inline V load(const type *p)                                                            \
    {                                                                                              \
        return (V){{p[0], p[1], p[2], p[3]}};                                                      \
    }                                                                                              \
    static inline void store(type *p, V x)                                                         \
    {                                                                                              \
        for (int i = 0; i < 4; i++)                                                                \
            p[i] = x.v[i];                                                                         \
    }                                                                                              \
    static inline V splat(type x)                                                                  \
    {                                                                                              \
        return (V){{x, x, x, x}};                                                                  \
    }                                                                                              \
    static inline V madd(V a, V b, V c)                                                            \
    {                                                                                              \
        for (int i = 0; i < 4; i++)                                                                \
            c.v[i] += a.v[i] * b.v[i];                                                             \
        return c;                                                                                  \
    }
DEFINE_FOUR(float, struct four32, load32, store32, splat32, madd32)
DEFINE_FOUR(double, struct four64, load64, store64, splat64, madd64)
#define F32                  struct four32
#define WIDTH32              4
#define LOAD32               load32
#define STORE32              store32
#define SPLAT32              splat32
#define MADD32               madd32
#define F64                  struct four64
#define WIDTH64              4
#define LOAD64               load64
#define STORE64              store64
#define SPLAT64              splat64
#define MADD64               madd64
#define SCALAR_MADD(a, b, c) ((c) + (a) * (b))
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

/* The OCT kernels for any machine, and the choice among the sets. */
#include <math.h>
#include <stdint.h>

#include "base/cpu.h"
#include "cpu/cpu_vector.h"

typedef int32_t four_ints __attribute__((vector_size(16)));

static inline four32 sqrt_portable(four32 v)
{
    for (int i = 0; i < 4; i++)
        v[i] = sqrtf(v[i]);
    return v;
}

#define SET            portable
#define V              four32
#define FMA(a, b, c)   ((a) * (b) + (c))
#define SQRT           sqrt_portable
#define AT_LEAST(a, b) WITHIN(b, a, a, b)
#define WITHIN(x, limit, a, b)                                                                     \
    ((four32)(((four_ints)(a) & ((x) <= (limit))) | ((four_ints)(b) & ~((x) <= (limit)))))
#include "cpu/tmpl/oct_tmpl.c"

const struct airy_oct_kernels *airy_oct_kernels(void)
{
#if AIRY_X86_KERNELS
    const unsigned flags = airy_cpu_flags();
    if (flags & AIRY_CPU_AVX512)
        return &airy_oct_avx512;
    if (flags & AIRY_CPU_AVX2)
        return &airy_oct_avx2;
#endif
    return &airy_oct_portable;
}

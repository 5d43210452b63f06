/* The convolution kernels for any machine, and the choice among the sets. */
#include "base/cpu.h"
#include "cpu/cpu_vector.h"

#define SET           portable
#define MANY          2
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
#include "cpu/tmpl/convolve_tmpl.c"

const struct airy_convolve_kernels *airy_convolve_kernels(void)
{
#if AIRY_X86_KERNELS
    const unsigned flags = airy_cpu_flags();
    if (flags & AIRY_CPU_AVX512)
        return &airy_convolve_avx512;
    if (flags & AIRY_CPU_AVX2)
        return &airy_convolve_avx2;
#endif
    return &airy_convolve_portable;
}

/* The kernels of rings for any machine, and the choice among the sets. */
#include "base/cpu.h"

#define SET portable
#include "cpu/tmpl/rings_tmpl.c"

const struct airy_ring_kernels *airy_ring_kernels(void)
{
#if AIRY_X86_KERNELS
    const unsigned flags = airy_cpu_flags();
    if (flags & AIRY_CPU_AVX512)
        return &airy_rings_avx512;
    if (flags & AIRY_CPU_AVX2)
        return &airy_rings_avx2;
#endif
    return &airy_rings_portable;
}

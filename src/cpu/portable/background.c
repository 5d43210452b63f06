/* The background kernels for any machine, and the choice among the sets. */
#include "base/cpu.h"

#define SET portable
#include "cpu/tmpl/background_tmpl.c"

const struct airy_background_kernels *airy_background_kernels(void)
{
#if AIRY_X86_KERNELS
    const unsigned flags = airy_cpu_flags();
    if (flags & AIRY_CPU_AVX512)
        return &airy_background_avx512;
    if (flags & AIRY_CPU_AVX2)
        return &airy_background_avx2;
#endif
    return &airy_background_portable;
}

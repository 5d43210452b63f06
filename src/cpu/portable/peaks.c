/* The peaks kernels for any machine, and the choice among the sets. */
#include "base/cpu.h"

#define SET portable
#include "cpu/tmpl/peaks_tmpl.c"

const struct airy_peaks_kernels *airy_peaks_kernels(void)
{
#if AIRY_X86_KERNELS
    const unsigned flags = airy_cpu_flags();
    if (flags & AIRY_CPU_AVX512)
        return &airy_peaks_avx512;
    if (flags & AIRY_CPU_AVX2)
        return &airy_peaks_avx2;
#endif
    return &airy_peaks_portable;
}

/* The element kernels for any machine, and the choice among the sets. */
#include "base/cpu.h"

#define SET portable
#include "cpu/tmpl/element_set_tmpl.c"

const struct airy_element_kernels *airy_element_kernels(int class)
{
#if AIRY_X86_KERNELS
    const unsigned flags = airy_cpu_flags();
    if (flags & AIRY_CPU_AVX512)
        return &airy_element_avx512[class];
    if (flags & AIRY_CPU_AVX2)
        return &airy_element_avx2[class];
#endif
    return &airy_element_portable[class];
}

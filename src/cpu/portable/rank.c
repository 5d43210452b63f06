/* The kernels of rank filters for any machine, and the choice among the sets. */
#include "base/cpu.h"

#define SET       portable
#define RATE      50
#define BUCKET_NS 90
#include "cpu/tmpl/rank_tmpl.c"

const struct airy_rank_kernels *airy_rank_kernels(void)
{
#if AIRY_X86_KERNELS
    const unsigned flags = airy_cpu_flags();
    if (flags & AIRY_CPU_AVX512)
        return &airy_rank_avx512;
    if (flags & AIRY_CPU_AVX2)
        return &airy_rank_avx2;
#endif
    return &airy_rank_portable;
}

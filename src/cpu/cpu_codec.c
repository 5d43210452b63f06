#include "cpu/cpu_codec.h"

#include "base/cpu.h"
#include "codec/chunks.h"

/* The newest set the machine has is the last that applies. */
static const struct {
    unsigned flag;
    struct airy_block_fns fns;
} sets[] = {
    {0,
     {airy_lz4_block_portable, airy_lz4_front_portable, airy_bitunshuffle_portable,
      airy_bitshuffle_portable, "portable"}},
#if defined(__x86_64__)
    {AIRY_CPU_SSE2,
     {airy_lz4_block_portable, airy_lz4_front_portable, airy_bitunshuffle_sse2,
      airy_bitshuffle_sse2, "sse2"}},
    {AIRY_CPU_AVX2,
     {airy_lz4_block_avx2, airy_lz4_front_avx2, airy_bitunshuffle_avx2, airy_bitshuffle_avx2,
      "avx2"}},
    {AIRY_CPU_AVX512,
     {airy_lz4_block_avx2, airy_lz4_front_avx2, airy_bitunshuffle_avx512, airy_bitshuffle_avx512,
      "avx512"}},
    {AIRY_CPU_VBMI,
     {airy_lz4_block_avx2, airy_lz4_front_avx2, airy_bitunshuffle_vbmi, airy_bitshuffle_vbmi,
      "vbmi"}},
#elif defined(__aarch64__)
    {AIRY_CPU_NEON,
     {airy_lz4_block_neon, airy_lz4_front_neon, airy_bitunshuffle_neon, airy_bitshuffle_neon,
      "neon"}},
#endif
};

const struct airy_block_fns *airy_cpu_block_fns(void)
{
    const struct airy_block_fns *fns = NULL;
    const unsigned flags = airy_cpu_flags();
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        if ((flags & sets[i].flag) == sets[i].flag)
            fns = &sets[i].fns;
    return fns;
}

#include "base/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const struct {
    const char *name;
    unsigned flags; /* all a mask of this name lets through */
} sets[] = {
    {"portable", 0},
    {"sse2", AIRY_CPU_SSE2},
    {"avx2", AIRY_CPU_SSE2 | AIRY_CPU_AVX2},
    {"avx512", AIRY_CPU_SSE2 | AIRY_CPU_AVX2 | AIRY_CPU_AVX512},
    {"vbmi", AIRY_CPU_SSE2 | AIRY_CPU_AVX2 | AIRY_CPU_AVX512 | AIRY_CPU_VBMI},
    {"neon", AIRY_CPU_NEON},
};

static unsigned detect(void)
{
    unsigned flags = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse2"))
        flags |= AIRY_CPU_SSE2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        flags |= AIRY_CPU_AVX2;
    if ((flags & AIRY_CPU_AVX2) && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"))
        flags |= AIRY_CPU_AVX512;
    if ((flags & AIRY_CPU_AVX512) && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("gfni"))
        flags |= AIRY_CPU_VBMI;
#elif defined(__aarch64__)
    flags |= AIRY_CPU_NEON;
#endif
    return flags;
}

unsigned airy_cpu_flags(void)
{
    static atomic_uint cached = ~0u;
    unsigned flags = atomic_load_explicit(&cached, memory_order_relaxed);
    if (flags != ~0u)
        return flags;
    flags = detect();
    const char *mask = getenv("AIRY_CPU");
    if (mask && *mask) {
        size_t i = 0;
        while (i < sizeof(sets) / sizeof(sets[0]) && strcmp(mask, sets[i].name) != 0)
            i++;
        if (i < sizeof(sets) / sizeof(sets[0]))
            flags &= sets[i].flags;
        else
            airy_log(
                AIRY_LOG_WARN,
                "AIRY_CPU=%s is not known; expected portable, sse2, avx2, avx512, vbmi or neon",
                mask);
    }
    atomic_store_explicit(&cached, flags, memory_order_relaxed);
    return flags;
}

const char *airy_cpu_name(void)
{
    const unsigned flags = airy_cpu_flags();
    const char *best = sets[0].name;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        if (sets[i].flags && (flags & sets[i].flags) == sets[i].flags)
            best = sets[i].name;
    return best;
}

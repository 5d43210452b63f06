/* What this CPU can do, detected once, masked by the environment's AIRY_CPU. */
#ifndef AIRY_BASE_CPU_H
#define AIRY_BASE_CPU_H

/*
 * Kernels for AVX2 and AVX512 but those of codecs. Builds for fuzzers do without: they take minutes to
 * compile with counters, and work on what was checked by then.
 */
#ifndef AIRY_X86_KERNELS
#ifdef __x86_64__
#define AIRY_X86_KERNELS 1
#else
#define AIRY_X86_KERNELS 0
#endif
#endif

enum airy_cpu_flags {
    AIRY_CPU_SSE2 = 1u << 0,
    AIRY_CPU_AVX2 = 1u << 1,   /* with FMA, BMI1, BMI2 */
    AIRY_CPU_AVX512 = 1u << 2, /* F, BW, DQ, VL, CD */
    AIRY_CPU_VBMI = 1u << 3,   /* AVX512 VBMI and GFNI (the Ice Lake set) */
    AIRY_CPU_NEON = 1u << 4
};

/*
 * AIRY_CPU: "portable", "sse2", "avx2", "avx512", "vbmi", "neon": that set and those below it;
 * never more than the machine has.
 */
unsigned airy_cpu_flags(void);
/* The best set by name, such as "vbmi". */
const char *airy_cpu_name(void);

#endif

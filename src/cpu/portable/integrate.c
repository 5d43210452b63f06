/* The integrate kernels for any machine, one frame at a time, and the choice among the sets. */
#include "base/cpu.h"

#define LANES            1
#define SUFFIX(f, dtype) f##_##dtype##_portable
#include "cpu/tmpl/integrate_tmpl_dtypes.c"

const struct airy_integrate_kernels airy_integrate_portable = {
    .narrowest = SUFFIX(narrowest, planes),
    .lanes = LANES,
    .worth = 1,
    .engine = "by pixel, one frame after another",
    .raw = {[AIRY_DTYPE_U8] = AIRY_RAW_FNS(u8_portable),
            [AIRY_DTYPE_I8] = AIRY_RAW_FNS(i8_portable),
            [AIRY_DTYPE_U16] = AIRY_RAW_FNS(u16_portable),
            [AIRY_DTYPE_I16] = AIRY_RAW_FNS(i16_portable),
            [AIRY_DTYPE_U32] = AIRY_RAW_FNS(u32_portable),
            [AIRY_DTYPE_I32] = AIRY_RAW_FNS(i32_portable),
            [AIRY_DTYPE_F32] = AIRY_RAW_FNS(f32_portable),
            [AIRY_DTYPE_F64] = AIRY_RAW_FNS(f64_portable)},
};

const struct airy_integrate_kernels *airy_integrate_kernels(void)
{
#if AIRY_X86_KERNELS
    const unsigned flags = airy_cpu_flags();
    if (flags & AIRY_CPU_AVX512)
        return &airy_integrate_avx512;
    if (flags & AIRY_CPU_AVX2)
        return &airy_integrate_avx2;
#elif defined(__aarch64__)
    if (airy_cpu_flags() & AIRY_CPU_NEON)
        return &airy_integrate_neon;
#endif
    return &airy_integrate_portable;
}

/* The transforms for any machine, and the choice among the sets. */
#include "base/cpu.h"
#include "cpu/cpu_fft.h"
#include "cpu/cpu_vector.h"

#define VECTOR_ADD(a, b)      ((a) + (b))
#define VECTOR_SUB(a, b)      ((a) - (b))
#define VECTOR_MUL(a, b)      ((a) * (b))
#define VECTOR_MADD(a, b, c)  ((a) * (b) + (c))
#define VECTOR_MSUB(a, b, c)  ((a) * (b) - (c))
#define VECTOR_NMADD(a, b, c) ((c) - (a) * (b))

#define SET   portable
#define TYPE  f32
#define W     float
#define V     four32
#define WIDTH 4
#define LOAD  load32
#define STORE store32
#define SPLAT splat32
#define ADD   VECTOR_ADD
#define SUB   VECTOR_SUB
#define MUL   VECTOR_MUL
#define MADD  VECTOR_MADD
#define MSUB  VECTOR_MSUB
#define NMADD VECTOR_NMADD
#include "cpu/tmpl/fft_tmpl.c"

#define TYPE  f64
#define W     double
#define V     two64
#define WIDTH 2
#define LOAD  load64
#define STORE store64
#define SPLAT splat64
#define ADD   VECTOR_ADD
#define SUB   VECTOR_SUB
#define MUL   VECTOR_MUL
#define MADD  VECTOR_MADD
#define MSUB  VECTOR_MSUB
#define NMADD VECTOR_NMADD
#include "cpu/tmpl/fft_tmpl.c"

const struct airy_fft_kernels airy_fft_portable = {.f32 = AIRY_FFT_TABLE(f32, portable),
                                                   .f64 = AIRY_FFT_TABLE(f64, portable)};

const struct airy_fft_kernels *airy_fft_kernels(void)
{
#if AIRY_X86_KERNELS
    const unsigned flags = airy_cpu_flags();
    if (flags & AIRY_CPU_AVX512)
        return &airy_fft_avx512;
    if (flags & AIRY_CPU_AVX2)
        return &airy_fft_avx2;
#endif
    return &airy_fft_portable;
}

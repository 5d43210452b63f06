/*
 * The convolution kernels: included by each instruction set's file, which defines
 *   SET                    its name
 *   F32, F64               vector types; WIDTH32, WIDTH64 their elements
 *   LOAD32(p), STORE32(p, v), SPLAT32(x), MADD32(a, b, c) = a * b + c, and the same with 64
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cpu/cpu_convolve.h"

#define CONVOLVE_NAME_(f, set)  f##_##set
#define CONVOLVE_NAME__(f, set) CONVOLVE_NAME_(f, set)
#define NAME(f)                 CONVOLVE_NAME__(f, SET)

/* Four vectors at a time: as many sums as hide the latency of an addition. */
#define DEFINE_CONVOLVE(name, type, V, WIDTH, LOAD, STORE, SPLAT, MADD)                            \
    static void NAME(name)(type * out, const type *const *row, size_t rows, const type *weights,   \
                           size_t taps, size_t n, bool add)                                        \
    {                                                                                              \
        enum { BLOCK = 4 * (WIDTH) };                                                              \
        size_t i = 0;                                                                              \
        for (; i + BLOCK <= n; i += BLOCK) {                                                       \
            V a = SPLAT((type)0), b = a, c = a, d = a;                                             \
            if (add) {                                                                             \
                a = LOAD(out + i);                                                                 \
                b = LOAD(out + i + (WIDTH));                                                       \
                c = LOAD(out + i + 2 * (WIDTH));                                                   \
                d = LOAD(out + i + 3 * (WIDTH));                                                   \
            }                                                                                      \
            for (size_t r = 0; r < rows; r++) {                                                    \
                const type *x = row[r] + i, *w = weights + r * taps;                               \
                for (size_t j = 0; j < taps; j++, x++) {                                           \
                    const V f = SPLAT(w[j]);                                                       \
                    a = MADD(f, LOAD(x), a);                                                       \
                    b = MADD(f, LOAD(x + (WIDTH)), b);                                             \
                    c = MADD(f, LOAD(x + 2 * (WIDTH)), c);                                         \
                    d = MADD(f, LOAD(x + 3 * (WIDTH)), d);                                         \
                }                                                                                  \
            }                                                                                      \
            STORE(out + i, a);                                                                     \
            STORE(out + i + (WIDTH), b);                                                           \
            STORE(out + i + 2 * (WIDTH), c);                                                       \
            STORE(out + i + 3 * (WIDTH), d);                                                       \
        }                                                                                          \
        for (; i < n; i++) {                                                                       \
            type one = add ? out[i] : (type)0;                                                     \
            for (size_t r = 0; r < rows; r++)                                                      \
                for (size_t j = 0; j < taps; j++)                                                  \
                    one = SCALAR_MADD(weights[r * taps + j], row[r][i + j], one);                  \
            out[i] = one;                                                                          \
        }                                                                                          \
    }

DEFINE_CONVOLVE(f32, float, F32, WIDTH32, LOAD32, STORE32, SPLAT32, MADD32)
DEFINE_CONVOLVE(f64, double, F64, WIDTH64, LOAD64, STORE64, SPLAT64, MADD64)

#define DEFINE_LOADS(name, type)                                                                   \
    static void NAME(load_f32_##name)(float *restrict dst, const void *restrict src, size_t n)     \
    {                                                                                              \
        const type *from = src;                                                                    \
        for (size_t i = 0; i < n; i++)                                                             \
            dst[i] = (float)from[i];                                                               \
    }                                                                                              \
    static void NAME(load_f64_##name)(double *restrict dst, const void *restrict src, size_t n)    \
    {                                                                                              \
        const type *from = src;                                                                    \
        for (size_t i = 0; i < n; i++)                                                             \
            dst[i] = (double)from[i];                                                              \
    }
DEFINE_LOADS(f32, float)
DEFINE_LOADS(f64, double)
DEFINE_LOADS(u8, uint8_t)
DEFINE_LOADS(i8, int8_t)
DEFINE_LOADS(u16, uint16_t)
DEFINE_LOADS(i16, int16_t)
DEFINE_LOADS(u32, uint32_t)
DEFINE_LOADS(i32, int32_t)
DEFINE_LOADS(u64, uint64_t)
DEFINE_LOADS(i64, int64_t)

#define LOADS(to)                                                                                  \
    {                                                                                              \
        [AIRY_DTYPE_F32] = NAME(load_##to##_f32), [AIRY_DTYPE_F64] = NAME(load_##to##_f64),        \
        [AIRY_DTYPE_U8] = NAME(load_##to##_u8), [AIRY_DTYPE_I8] = NAME(load_##to##_i8),            \
        [AIRY_DTYPE_U16] = NAME(load_##to##_u16), [AIRY_DTYPE_I16] = NAME(load_##to##_i16),        \
        [AIRY_DTYPE_U32] = NAME(load_##to##_u32), [AIRY_DTYPE_I32] = NAME(load_##to##_i32),        \
        [AIRY_DTYPE_U64] = NAME(load_##to##_u64), [AIRY_DTYPE_I64] = NAME(load_##to##_i64),        \
    }

const struct airy_convolve_kernels NAME(airy_convolve) = {
    .f32 = NAME(f32), .f64 = NAME(f64), .load_f32 = LOADS(f32), .load_f64 = LOADS(f64)};

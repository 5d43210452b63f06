/*
 * The convolution kernels: included by each instruction set's file, which defines
 *   SET                    its name
 *   F32, F64               vector types; WIDTH32, WIDTH64 their elements
 *   MANY                   vectors of a row that four rows of sums leave registers for
 *   LOAD32(p), STORE32(p, v), SPLAT32(x), MADD32(a, b, c) = a * b + c, and the same with 64
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cpu/cpu_convolve.h"

#define CONVOLVE_NAME_(f, set)  f##_##set
#define CONVOLVE_NAME__(f, set) CONVOLVE_NAME_(f, set)
#define NAME(f)                 CONVOLVE_NAME__(f, SET)
#define UNROLL                  _Pragma("GCC unroll 4")
enum { FOUR = 4 };

#define ROWS   AIRY_CONVOLVE_ROWS
#define ALWAYS static inline __attribute__((always_inline))

/*
 * ROWS results of one column share what they read: element v of row s counts in result k with the
 * weights of row s - k. Sums that are added to at a time hide the latency of an addition: `many`
 * vectors of ROWS rows, or FOUR of a single one. Ranges of results (lo..hi) and counts of vectors
 * are constants once all is inlined.
 */
#define DEFINE_CONVOLVE(name, type, V, WIDTH, LOAD, STORE, SPLAT, MADD)                            \
    ALWAYS void NAME(add_##name)(V * sum, int vectors, const type *x, const type *weights,         \
                                 size_t taps, int lo, int hi)                                      \
    {                                                                                              \
        for (size_t j = 0; j < taps; j++) {                                                        \
            V v[FOUR];                                                                             \
            UNROLL for (int q = 0; q < vectors; q++) v[q] = LOAD(x + j + (size_t)q * (WIDTH));     \
            UNROLL for (int k = lo; k <= hi; k++)                                                  \
            {                                                                                      \
                const V f = SPLAT(*(weights + j - (size_t)k * taps));                              \
                UNROLL for (int q = 0; q < vectors; q++)                                           \
                    sum[k * vectors + q] = MADD(f, v[q], sum[k * vectors + q]);                    \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* Columns [i, i + vectors * WIDTH) of one result; only `n` of them are there. */              \
    ALWAYS void NAME(one_##name)(type * out, const type *const *row, size_t rows,                  \
                                 const type *weights, size_t taps, size_t i, size_t n,             \
                                 int vectors, bool add)                                            \
    {                                                                                              \
        V sum[FOUR];                                                                               \
        type edge[WIDTH] = {0};                                                                    \
        type *to = n < (WIDTH) ? edge : out + i;                                                   \
        if (add && n < (WIDTH))                                                                    \
            memcpy(edge, out + i, n * sizeof(type));                                               \
        UNROLL for (int q = 0; q < vectors; q++) sum[q] = add ? LOAD(to + (size_t)q * (WIDTH))     \
                                                              : SPLAT((type)0);                    \
        for (size_t s = 0; s < rows; s++)                                                          \
            NAME(add_##name)(sum, vectors, row[s] + i, weights + s * taps, taps, 0, 0);            \
        UNROLL for (int q = 0; q < vectors; q++) STORE(to + (size_t)q * (WIDTH), sum[q]);          \
        if (n < (WIDTH))                                                                           \
            memcpy(out + i, edge, n * sizeof(type));                                               \
    }                                                                                              \
                                                                                                   \
    /* The same of ROWS results. */                                                                \
    ALWAYS void NAME(rows_##name)(type *const *out, const type *const *row, size_t planes,         \
                                  size_t rows, const type *weights, size_t taps, size_t i,         \
                                  size_t n, int vectors, bool add)                                 \
    {                                                                                              \
        V sum[ROWS * MANY];                                                                        \
        type edge[ROWS][WIDTH] = {{0}};                                                            \
        type *to[ROWS];                                                                            \
        for (int k = 0; k < ROWS; k++) {                                                           \
            to[k] = n < (WIDTH) ? edge[k] : out[k] + i;                                            \
            if (add && n < (WIDTH))                                                                \
                memcpy(edge[k], out[k] + i, n * sizeof(type));                                     \
        }                                                                                          \
        UNROLL for (int k = 0; k < ROWS; k++) UNROLL for (int q = 0; q < vectors; q++)             \
            sum[k * vectors + q] = add ? LOAD(to[k] + (size_t)q * (WIDTH)) : SPLAT((type)0);       \
        for (size_t c = 0; c < planes; c++, row += rows + ROWS - 1, weights += rows * taps) {      \
            const type *w = weights;                                                               \
            NAME(add_##name)(sum, vectors, row[0] + i, w, taps, 0, 0);                             \
            NAME(add_##name)(sum, vectors, row[1] + i, w + taps, taps, 0, 1);                      \
            NAME(add_##name)(sum, vectors, row[2] + i, w + 2 * taps, taps, 0, 2);                  \
            for (size_t s = ROWS - 1; s < rows; s++)                                               \
                NAME(add_##name)(sum, vectors, row[s] + i, w + s * taps, taps, 0, ROWS - 1);       \
            w += rows * taps;                                                                      \
            NAME(add_##name)(sum, vectors, row[rows] + i, w, taps, 1, 3);                          \
            NAME(add_##name)(sum, vectors, row[rows + 1] + i, w + taps, taps, 2, 3);               \
            NAME(add_##name)(sum, vectors, row[rows + 2] + i, w + 2 * taps, taps, 3, 3);           \
        }                                                                                          \
        UNROLL for (int k = 0; k < ROWS; k++) UNROLL for (int q = 0; q < vectors; q++)             \
            STORE(to[k] + (size_t)q * (WIDTH), sum[k * vectors + q]);                              \
        for (int k = 0; k < ROWS; k++)                                                             \
            if (n < (WIDTH))                                                                       \
                memcpy(out[k] + i, edge[k], n * sizeof(type));                                     \
    }                                                                                              \
                                                                                                   \
    static void NAME(name)(type * out, const type *const *row, size_t rows, const type *weights,   \
                           size_t taps, size_t n, bool add)                                        \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + FOUR * (WIDTH) <= n; i += FOUR * (WIDTH))                                       \
            NAME(one_##name)(out, row, rows, weights, taps, i, FOUR * (WIDTH), FOUR, add);         \
        for (; i < n; i += (WIDTH))                                                                \
            NAME(one_##name)(out, row, rows, weights, taps, i, n - i, 1, add);                     \
    }                                                                                              \
    static void NAME(block_##name)(type *const *out, const type *const *row, size_t planes,        \
                                   size_t rows, const type *weights, size_t taps, size_t n,        \
                                   bool add)                                                       \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + MANY * (WIDTH) <= n; i += MANY * (WIDTH))                                       \
            NAME(rows_##name)                                                                      \
        (out, row, planes, rows, weights, taps, i, MANY * (WIDTH), MANY, add);                     \
        for (; i < n; i += (WIDTH))                                                                \
            NAME(rows_##name)(out, row, planes, rows, weights, taps, i, n - i, 1, add);            \
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

const struct airy_convolve_kernels NAME(airy_convolve) = {.f32 = NAME(f32),
                                                          .f64 = NAME(f64),
                                                          .block_f32 = NAME(block_f32),
                                                          .block_f64 = NAME(block_f64),
                                                          .load_f32 = LOADS(f32),
                                                          .load_f64 = LOADS(f64)};

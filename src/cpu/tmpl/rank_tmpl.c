/*
 * The kernels of rank filters: compiled once for each instruction set, which defines SET, its name,
 * RATE, the bytes a ns of a network, and BUCKET_NS, as of struct airy_rank_kernels, first. Loops that
 * compilers turn into vectors.
 */
#include <math.h>
#include <string.h>

#include "cpu/cpu_rank.h"
#include "cpu/tmpl/set_tmpl.h"

/* Lines do not overlap, but a and b may be the same one. */
#define DEFINE_RUN(K)                                                                              \
    static inline void NAME(both_##K)(K *restrict low, K *restrict high, const K *restrict a,      \
                                      const K *restrict b, size_t chunks)                          \
    {                                                                                              \
        for (size_t i = 0; i < chunks * (AIRY_RANK_CHUNK / sizeof(K)); i++) {                      \
            const K x = a[i], y = b[i];                                                            \
            low[i] = x < y ? x : y;                                                                \
            high[i] = x < y ? y : x;                                                               \
        }                                                                                          \
    }                                                                                              \
    static inline void NAME(lower_##K)(K *restrict low, const K *restrict a, const K *restrict b,  \
                                       size_t chunks)                                              \
    {                                                                                              \
        for (size_t i = 0; i < chunks * (AIRY_RANK_CHUNK / sizeof(K)); i++)                        \
            low[i] = a[i] < b[i] ? a[i] : b[i];                                                    \
    }                                                                                              \
    static inline void NAME(upper_##K)(K *restrict high, const K *restrict a, const K *restrict b, \
                                       size_t chunks)                                              \
    {                                                                                              \
        for (size_t i = 0; i < chunks * (AIRY_RANK_CHUNK / sizeof(K)); i++)                        \
            high[i] = a[i] < b[i] ? b[i] : a[i];                                                   \
    }                                                                                              \
    static void NAME(run_##K)(const struct airy_rank_op *ops, size_t count, void *const *lines)    \
    {                                                                                              \
        for (const struct airy_rank_op *op = ops; op < ops + count; op++) {                        \
            const K *a = (const K *)lines[op->a] + op->shift_a,                                    \
                    *b = (const K *)lines[op->b] + op->shift_b;                                    \
            if (op->step == AIRY_RANK_BOTH)                                                        \
                NAME(both_##K)(lines[op->low], lines[op->high], a, b, op->chunks);                 \
            else if (op->step == AIRY_RANK_LOWER)                                                  \
                NAME(lower_##K)(lines[op->low], a, b, op->chunks);                                 \
            else                                                                                   \
                NAME(upper_##K)(lines[op->high], a, b, op->chunks);                                \
        }                                                                                          \
    }

DEFINE_RUN(uint8_t)
DEFINE_RUN(uint16_t)
DEFINE_RUN(uint32_t)
DEFINE_RUN(int64_t)

/* Integers: as they are, or with the sign's bit turned over. */
#define DEFINE_TURNED(name, K, turn)                                                               \
    static void NAME(turn_##name)(void *dst, const void *src, size_t n)                            \
    {                                                                                              \
        const K *from = src;                                                                       \
        K *to = dst;                                                                               \
        for (size_t i = 0; i < n; i++)                                                             \
            to[i] = (K)(from[i] ^ (turn));                                                         \
    }

DEFINE_TURNED(u8, uint8_t, 0)
DEFINE_TURNED(i8, uint8_t, 0x80)
DEFINE_TURNED(u16, uint16_t, 0)
DEFINE_TURNED(i16, uint16_t, 0x8000)
DEFINE_TURNED(u32, uint32_t, 0)
DEFINE_TURNED(i32, uint32_t, 0x80000000u)
DEFINE_TURNED(i64, uint64_t, 0)
DEFINE_TURNED(u64, uint64_t, (uint64_t)1 << 63)

/* The bits of a positive float with the sign's turned over, of a negative one all turned over. */
static void NAME(load_f32)(void *keys, const void *src, size_t n)
{
    const uint32_t *from = src;
    uint32_t *to = keys;
    for (size_t i = 0; i < n; i++) {
        const uint32_t v = from[i], nan = (uint32_t) - ((v & 0x7fffffffu) > 0x7f800000u);
        const uint32_t key = v ^ ((uint32_t)((int32_t)v >> 31) | 0x80000000u);
        to[i] = (key & ~nan) | (0xffc00000u & nan);
    }
}

static void NAME(store_f32)(void *dst, const void *keys, size_t n)
{
    const uint32_t *from = keys;
    uint32_t *to = dst;
    for (size_t i = 0; i < n; i++)
        to[i] = from[i] ^ (~(uint32_t)((int32_t)from[i] >> 31) | 0x80000000u);
}

/* Keys of 64 bits are signed: the bits of a positive float stay, of a negative one all but the sign
 * are turned over. */
static void NAME(load_f64)(void *keys, const void *src, size_t n)
{
    const int64_t *from = src;
    int64_t *to = keys;
    for (size_t i = 0; i < n; i++) {
        const int64_t v = from[i], nan = -(int64_t)((v & INT64_MAX) > (int64_t)0x7ff0000000000000);
        const int64_t key = v ^ (v >> 63 & INT64_MAX);
        to[i] = (key & ~nan) | ((int64_t)0x7ff8000000000000 & nan);
    }
}

static void NAME(store_f64)(void *dst, const void *keys, size_t n)
{
    const int64_t *from = keys;
    int64_t *to = dst;
    for (size_t i = 0; i < n; i++)
        to[i] = from[i] ^ (from[i] >> 63 & INT64_MAX);
}

#include "cpu/tmpl/rank_bucket_tmpl.c"

/* Counts are doubles, so that all vectors have as many lanes. */
static void NAME(count_near)(double *restrict count, const double *restrict line,
                             const double *restrict median, const double *restrict off,
                             double limit, size_t taps, size_t n)
{
    for (size_t j = 0; j < taps; j++)
        for (size_t i = 0; i < n; i++)
            count[i] += limit * fabs(line[i + j] - median[i]) < off[i] ? 1.0 : 0.0;
}

#define TURNS                                                                                      \
    [AIRY_DTYPE_U8] = NAME(turn_u8), [AIRY_DTYPE_I8] = NAME(turn_i8),                              \
    [AIRY_DTYPE_U16] = NAME(turn_u16), [AIRY_DTYPE_I16] = NAME(turn_i16),                          \
    [AIRY_DTYPE_U32] = NAME(turn_u32), [AIRY_DTYPE_I32] = NAME(turn_i32),                          \
    [AIRY_DTYPE_U64] = NAME(turn_u64), [AIRY_DTYPE_I64] = NAME(turn_i64)

const struct airy_rank_kernels NAME(airy_rank) = {
    .bytes_a_ns = RATE,
    .bucket_ns = BUCKET_NS,
    .buckets = NAME(rank_buckets),
    .run = {NAME(run_uint8_t), NAME(run_uint16_t), NAME(run_uint32_t), NAME(run_int64_t)},
    .load = {TURNS, [AIRY_DTYPE_F32] = NAME(load_f32), [AIRY_DTYPE_F64] = NAME(load_f64)},
    .store = {TURNS, [AIRY_DTYPE_F32] = NAME(store_f32), [AIRY_DTYPE_F64] = NAME(store_f64)},
    .count_near = NAME(count_near),
};

/*
 * The reduce kernels: compiled once for each instruction set, which defines SET, its name, first,
 * and may define KEEP(dst, values, in): the elements of a vector whose mask is set to dst, which has
 * room for all, in order; how many.
 * Vectors of the compiler, as wide as the set's; an element is added to the same of 16 sums in all
 * of them, so that the arithmetic is the same.
 */
#include <math.h>
#include <string.h>

#include "cpu/cpu_reduce.h"
#include "cpu/tmpl/lanes_tmpl.h"

#define DEFINE_LOAD(name, type)                                                                    \
    static void NAME(load_##name)(double *restrict dst, const void *restrict src, size_t n)        \
    {                                                                                              \
        const type *from = src;                                                                    \
        for (size_t i = 0; i < n; i++)                                                             \
            dst[i] = (double)from[i] + 0.0; /* -0 is 0 */                                          \
    }
DEFINE_LOAD(f32, float)
DEFINE_LOAD(f64, double)
DEFINE_LOAD(u8, uint8_t)
DEFINE_LOAD(i8, int8_t)
DEFINE_LOAD(u16, uint16_t)
DEFINE_LOAD(i16, int16_t)
DEFINE_LOAD(u32, uint32_t)
DEFINE_LOAD(i32, int32_t)
DEFINE_LOAD(u64, uint64_t)
DEFINE_LOAD(i64, int64_t)

/* All bits where lo <= x <= hi, which NaN never is. */
#define INSIDE(x, lo, hi) (((x) >= (lo)) & ((x) <= (hi)))
#define SELECT(mask, x)   ((vec)((bits)(x) & (mask)))

static void NAME(moments)(struct airy_reduce_moments *m, const double *values, size_t n,
                          double pivot, double lo, double hi)
{
    const vec *v = (const vec *)values;
    const vec vlo = SPLAT(lo), vhi = SPLAT(hi), vpivot = SPLAT(pivot);
    vec sum[PARTS] = {0}, squares[PARTS] = {0}, min[PARTS], max[PARTS];
    bits count[PARTS] = {0};
    for (int k = 0; k < PARTS; k++) {
        min[k] = SPLAT((double)INFINITY);
        max[k] = SPLAT(-(double)INFINITY);
    }
    for (size_t i = 0; i < n / WIDTH; i += PARTS)
        for (int k = 0; k < PARTS; k++) {
            const vec x = v[i + (size_t)k];
            const bits in = INSIDE(x, vlo, vhi);
            const vec d = SELECT(in, x - vpivot);
            sum[k] += d;
            squares[k] += d * d;
            count[k] -= in;
            min[k] = CHOOSE(in & (x < min[k]), x, min[k]);
            max[k] = CHOOSE(in & (x > max[k]), x, max[k]);
        }
    *m = (struct airy_reduce_moments){.min = (double)INFINITY, .max = -(double)INFINITY};
    for (int k = 0; k < PARTS; k++)
        for (int i = 0; i < WIDTH; i++) {
            m->count += (uint64_t)count[k][i];
            m->sum += sum[k][i];
            m->squares += squares[k][i];
            m->min = min[k][i] < m->min ? min[k][i] : m->min;
            m->max = max[k][i] > m->max ? max[k][i] : m->max;
        }
}

static uint64_t NAME(count)(const double *values, size_t n, double lo, double hi)
{
    const vec *v = (const vec *)values;
    const vec vlo = SPLAT(lo), vhi = SPLAT(hi);
    bits count = {0};
    for (size_t i = 0; i < n / WIDTH; i++)
        count -= INSIDE(v[i], vlo, vhi);
    uint64_t total = 0;
    for (int i = 0; i < WIDTH; i++)
        total += (uint64_t)count[i];
    return total;
}

#ifndef KEEP
#define KEEP(dst, values, in) NAME(keep)((dst), (values), (in))
static size_t NAME(keep)(double *dst, const double *values, bits in)
{
    size_t k = 0;
    for (size_t i = 0; i < WIDTH; i++) {
        dst[k] = values[i];
        k += (size_t)(in[i] & 1);
    }
    return k;
}
#endif

static size_t NAME(gather)(double *dst, const double *values, size_t n, double lo, double hi)
{
    const vec *v = (const vec *)values;
    const vec vlo = SPLAT(lo), vhi = SPLAT(hi);
    size_t k = 0;
    for (size_t i = 0; i < n / WIDTH; i++)
        k += KEEP(dst + k, values + i * WIDTH, INSIDE(v[i], vlo, vhi));
    return k;
}

static size_t NAME(gather_tails)(double *dst, const double *values, size_t n, double lo, double hi,
                                 double core_lo, double core_hi)
{
    const vec *v = (const vec *)values;
    const vec vlo = SPLAT(lo), vhi = SPLAT(hi), vcore_lo = SPLAT(core_lo),
              vcore_hi = SPLAT(core_hi);
    size_t k = 0;
    for (size_t i = 0; i < n / WIDTH; i++) {
        const bits in = INSIDE(v[i], vlo, vhi), core = INSIDE(v[i], vcore_lo, vcore_hi);
        k += KEEP(dst + k, values + i * WIDTH, in & ~core);
    }
    return k;
}

static void NAME(above)(uint8_t *mask, const double *values, size_t n, double value)
{
    for (size_t i = 0; i < n; i++)
        mask[i] = values[i] > value;
}

static void NAME(not_zero)(uint8_t *mask, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mask[i] = fabs(values[i]) > 0.0;
}

static void NAME(turns)(uint8_t *mask, const uint32_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mask[i] = values[i] != values[(ptrdiff_t)i - 1];
}

/* x is on one side or the other of the edge that is nearest: with one division. */
static void NAME(bins)(uint32_t *restrict bin, const double *restrict values, size_t n,
                       const struct airy_reduce_bins *bins)
{
    const double lo = bins->lo, hi = bins->hi, count = bins->count, scale = bins->scale,
                 width = hi - lo, last = count - 1, whole = 4503599627370496; /* 2^52 */
    for (size_t i = 0; i < n; i++) {
        const double x = values[i], edge = ((x - lo) * scale + whole) - whole;
        double k = x < lo + edge * width / count ? edge - 1 : edge;
        k = k > last ? last : k;
        k = x < lo ? count : x > hi ? count + 1 : x != x ? count + 2 : k;
        bin[i] = (uint32_t)(int32_t)k;
    }
}

/* n: a multiple of AIRY_REDUCE_GROUP. */
static void NAME(line_groups)(struct airy_reduce_line *line, const double *values, size_t n)
{
    const vec *v = (const vec *)values;
    vec sum[PARTS] = {0}, first[PARTS] = {0}, second[PARTS] = {0}, min[PARTS], max[PARTS],
        at[PARTS];
    for (int k = 0; k < PARTS; k++) {
        min[k] = SPLAT((double)INFINITY);
        max[k] = SPLAT(-(double)INFINITY);
        for (int i = 0; i < WIDTH; i++)
            at[k][i] = k * WIDTH + i;
    }
    for (size_t i = 0; i < n / WIDTH; i += PARTS)
        for (int k = 0; k < PARTS; k++) {
            const vec x = v[i + (size_t)k], moment = x * at[k];
            sum[k] += x;
            first[k] += moment;
            second[k] += moment * at[k];
            min[k] = CHOOSE(x < min[k], x, min[k]);
            max[k] = CHOOSE(x > max[k], x, max[k]);
            at[k] += AIRY_REDUCE_GROUP;
        }
    line->sum = NAME(add_up)(sum);
    line->first = NAME(add_up)(first);
    line->second = NAME(add_up)(second);
    for (int k = 1; k < PARTS; k++) {
        min[0] = CHOOSE(min[k] < min[0], min[k], min[0]);
        max[0] = CHOOSE(max[k] > max[0], max[k], max[0]);
    }
    for (int i = 0; i < WIDTH; i++) {
        line->min = min[0][i] < line->min ? min[0][i] : line->min;
        line->max = max[0][i] > line->max ? max[0][i] : line->max;
    }
}

static void NAME(line)(struct airy_reduce_line *line, const double *values, size_t n)
{
    const size_t whole = n - n % AIRY_REDUCE_GROUP;
    struct airy_reduce_line l = {.min = (double)INFINITY, .max = -(double)INFINITY};
    if (whole)
        NAME(line_groups)(&l, values, whole);
    for (size_t i = whole; i < n; i++) {
        const double x = values[i], moment = x * (double)i;
        l.sum += x;
        l.first += moment;
        l.second += moment * (double)i;
        l.min = x < l.min ? x : l.min;
        l.max = x > l.max ? x : l.max;
    }
    *line = l;
}

const struct airy_reduce_kernels NAME(airy_reduce) = {
    .load = {[AIRY_DTYPE_F32] = NAME(load_f32),
             [AIRY_DTYPE_F64] = NAME(load_f64),
             [AIRY_DTYPE_U8] = NAME(load_u8),
             [AIRY_DTYPE_I8] = NAME(load_i8),
             [AIRY_DTYPE_U16] = NAME(load_u16),
             [AIRY_DTYPE_I16] = NAME(load_i16),
             [AIRY_DTYPE_U32] = NAME(load_u32),
             [AIRY_DTYPE_I32] = NAME(load_i32),
             [AIRY_DTYPE_U64] = NAME(load_u64),
             [AIRY_DTYPE_I64] = NAME(load_i64)},
    .moments = NAME(moments),
    .count = NAME(count),
    .gather = NAME(gather),
    .gather_tails = NAME(gather_tails),
    .above = NAME(above),
    .not_zero = NAME(not_zero),
    .turns = NAME(turns),
    .bins = NAME(bins),
    .line = NAME(line),
};

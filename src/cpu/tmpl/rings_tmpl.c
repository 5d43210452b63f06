/*
 * The kernels of rings: compiled once for each instruction set, which defines SET, its name, first.
 * Vectors of the compiler, as wide as the set's.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "cpu/cpu_rings.h"
#include "cpu/tmpl/set_tmpl.h"

enum { WIDTH = VECTOR / 8, PARTS = AIRY_RING_LANES / WIDTH };
typedef double vec __attribute__((vector_size(VECTOR), aligned(8)));
typedef int64_t bits __attribute__((vector_size(VECTOR), aligned(8)));
_Static_assert(PARTS *WIDTH == AIRY_RING_LANES, "lanes are whole vectors");

#define DEFINE_GATHER(name, type)                                                                  \
    static void NAME(gather_##name)(double *restrict raw, const void *restrict pixels,             \
                                    const uint32_t *restrict pixel, size_t n)                      \
    {                                                                                              \
        const type *from = pixels;                                                                 \
        for (size_t i = 0; i < n; i++)                                                             \
            raw[i] = (double)from[pixel[i]];                                                       \
    }
DEFINE_GATHER(u8, uint8_t)
DEFINE_GATHER(i8, int8_t)
DEFINE_GATHER(u16, uint16_t)
DEFINE_GATHER(i16, int16_t)
#ifdef GATHER_u32
#define DEFINE_WIDE_GATHER(name, type)                                                             \
    static void NAME(gather_##name)(double *restrict raw, const void *restrict pixels,             \
                                    const uint32_t *restrict pixel, size_t n)                      \
    {                                                                                              \
        const type *from = pixels;                                                                 \
        size_t i = 0;                                                                              \
        if (n > 0 && pixel[n - 1] <= INT32_MAX) /* they ascend */                                  \
            for (; i + WIDTH <= n; i += WIDTH)                                                     \
                *(vec *)(raw + i) = (vec)GATHER_##name(pixels, pixel + i);                         \
        for (; i < n; i++)                                                                         \
            raw[i] = (double)from[pixel[i]];                                                       \
    }
#else
#define DEFINE_WIDE_GATHER DEFINE_GATHER
#endif
DEFINE_WIDE_GATHER(u32, uint32_t)
DEFINE_WIDE_GATHER(i32, int32_t)
DEFINE_WIDE_GATHER(f32, float)
DEFINE_GATHER(f64, double)

#define SPLAT(x)           ((vec){0} + (x))
#define SELECT(mask, x)    ((vec)((bits)(x) & (mask)))
#define CHOOSE(mask, x, y) ((vec)(((bits)(x) & (mask)) | ((bits)(y) & ~(mask))))
#define ABS(x)             ((vec)((bits)(x)&INT64_MAX))

static bool NAME(any_bad)(const double *raw, size_t n, double lo, double hi)
{
    const vec vlo = SPLAT(lo), vhi = SPLAT(hi), most = SPLAT(DBL_MAX);
    bits bad = {0};
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        const vec x = *(const vec *)(raw + i);
        bad |= ~(ABS(x) <= most) | ((x >= vlo) & (x <= vhi));
    }
    bool any = false;
    for (int k = 0; k < WIDTH; k++)
        any |= bad[k] != 0;
    for (; i < n; i++)
        any |= !(fabs(raw[i]) <= DBL_MAX) || (raw[i] >= lo && raw[i] <= hi);
    return any;
}

/* WIDTH floats, widened. */
static inline vec NAME(widen)(const float *from)
{
    typedef float floats __attribute__((vector_size(VECTOR / 2)));
    floats f;
    memcpy(&f, from, sizeof(f));
    return __builtin_convertvector(f, vec);
}

struct NAME(terms) {
    vec raw, s, omega, c, weight;
};

static inline __attribute__((always_inline)) struct NAME(terms)
    NAME(load)(const struct airy_ring_bin *ring, size_t at, const enum airy_ring_weights weights)
{
    struct NAME(terms) t;
    if (weights == AIRY_RING_TERMS) {
        t.raw = t.s = *(const vec *)(ring->s + at);
        t.omega = *(const vec *)(ring->omega + at);
        t.c = *(const vec *)(ring->c + at);
        t.weight = t.c;
        return t;
    }
    const vec factor = NAME(widen)(ring->factor + at);
    t.raw = t.s = *(const vec *)(ring->raw + at);
    t.omega = t.c = factor;
    if (weights == AIRY_RING_ONES)
        return t;
    t.weight = NAME(widen)(ring->weight + at);
    t.s = t.weight * t.raw;
    if (weights == AIRY_RING_WEIGHTED) {
        t.omega = t.weight * factor;
        t.c = t.weight;
    }
    return t;
}

/* Lanes, one after another. */
static double NAME(total)(const vec *part)
{
    double sum = 0.0;
    for (int k = 0; k < PARTS; k++)
        for (int i = 0; i < WIDTH; i++)
            sum += part[k][i];
    return sum;
}

static inline __attribute__((always_inline)) double
NAME(values_of)(double *restrict x, double *restrict g, double *heaviest,
                const struct airy_ring_bin *ring, double scale,
                const enum airy_ring_weights weights)
{
    const vec vscale = SPLAT(scale), whole = SPLAT(0x1p52), most_raw = SPLAT(DBL_MAX);
    vec weight[PARTS] = {0}, most = {0};
    for (size_t i = 0; i < ring->count; i += AIRY_RING_LANES)
        for (int k = 0; k < PARTS; k++) {
            const size_t at = i + (size_t)k * WIDTH;
            const struct NAME(terms) t = NAME(load)(ring, at, weights);
            *(vec *)(x + at) = t.s / t.omega;
            /* rint: what is below 2^52 has no fraction left after this */
            const vec rounded =
                SELECT(ABS(t.raw) <= most_raw, ABS(t.omega) * vscale + whole - whole);
            *(vec *)(g + at) = rounded;
            weight[k] += rounded;
            most = CHOOSE(rounded > most, rounded, most);
        }
    *heaviest = 0.0;
    for (int k = 0; k < WIDTH; k++)
        *heaviest = most[k] > *heaviest ? most[k] : *heaviest;
    return NAME(total)(weight);
}

static double NAME(values)(double *x, double *g, double *heaviest, const struct airy_ring_bin *ring,
                           double scale)
{
    switch (ring->weights) {
    case AIRY_RING_ONES:
        return NAME(values_of)(x, g, heaviest, ring, scale, AIRY_RING_ONES);
    case AIRY_RING_WEIGHTED:
        return NAME(values_of)(x, g, heaviest, ring, scale, AIRY_RING_WEIGHTED);
    default:
        return NAME(values_of)(x, g, heaviest, ring, scale, AIRY_RING_UNWEIGHTED);
    }
}

/* Those of rank lo and hi of n values, a multiple of AIRY_RING_LANES; by counting. */
static void NAME(ranked)(double found[2], const double *values, size_t n, size_t lo, size_t hi)
{
    for (size_t k = 0; k < n; k++) {
        const vec v = SPLAT(values[k]);
        bits below = {0}, upto = {0};
        for (size_t i = 0; i < n; i += WIDTH) {
            const vec x = *(const vec *)(values + i);
            below -= x < v;
            upto -= x <= v;
        }
        size_t less = 0, most = 0;
        for (int i = 0; i < WIDTH; i++) {
            less += (size_t)below[i];
            most += (size_t)upto[i];
        }
        if (less <= lo && lo < most)
            found[0] = values[k];
        if (less <= hi && hi < most)
            found[1] = values[k];
    }
}

#ifndef KEEP
#define KEEP NAME(keep)
static size_t NAME(keep)(struct airy_ring_list *to, size_t n, const struct airy_ring_list *from,
                         size_t i, bits in)
{
    for (size_t k = 0; k < WIDTH; k++) {
        to->x[n] = from->x[i + k];
        to->g[n] = from->g[i + k];
        to->at[n] = from->at ? from->at[i + k] : (uint32_t)(i + k);
        n += (size_t)(in[k] & 1);
    }
    return n;
}
#endif

static size_t NAME(split)(struct airy_ring_list *inside, double weights[2],
                          const struct airy_ring_list *all, double lo, double hi)
{
    const vec vlo = SPLAT(lo), vhi = SPLAT(hi);
    vec weight = {0}, kept = {0};
    bits count = {0};
    size_t n = 0, i = 0;
    for (; i + WIDTH <= all->count; i += WIDTH) {
        const vec x = *(const vec *)(all->x + i);
        const bits low = x < vlo, in = ~low & (x <= vhi);
        weight += SELECT(low, *(const vec *)(all->g + i));
        kept += SELECT(in, *(const vec *)(all->g + i));
        count -= low;
        n = KEEP(inside, n, all, i, in);
    }
    size_t before = 0;
    weights[0] = weights[1] = 0.0;
    for (int k = 0; k < WIDTH; k++) {
        weights[0] += weight[k];
        weights[1] += kept[k];
        before += (size_t)count[k];
    }
    for (; i < all->count; i++) {
        const double x = all->x[i];
        if (x < lo) {
            weights[0] += all->g[i];
            before++;
        } else if (x <= hi) {
            weights[1] += all->g[i];
            inside->x[n] = x;
            inside->g[n] = all->g[i];
            inside->at[n++] = all->at ? all->at[i] : (uint32_t)i;
        }
    }
    inside->count = n;
    return before;
}

/* Terms whose mask is set to place n of the ring; where it has room for a vector more. */
#ifndef KEEP_TERMS
#define KEEP_TERMS NAME(keep_terms)
static inline size_t NAME(keep_terms)(struct airy_ring_bin *to, size_t n, vec s, vec omega, vec c,
                                      vec v, bits in)
{
    for (size_t k = 0; k < WIDTH; k++) {
        to->s[n] = s[k];
        to->omega[n] = omega[k];
        to->c[n] = c[k];
        to->v[n] = v[k];
        n += (size_t)(in[k] & 1);
    }
    return n;
}
#endif

/* run: instead of the window; outside: where what the window lacks goes; or NULL. */
static inline __attribute__((always_inline)) void
NAME(sum_of)(struct airy_ring_sums *sums, const struct airy_ring_bin *ring,
             const struct airy_ring_window *window, const struct airy_ring_run *run,
             struct airy_ring_bin *outside, const enum airy_ring_weights weights,
             const enum airy_ring_variances variances)
{
    size_t n = 0;
    const vec pivot = SPLAT(window->pivot), mid = SPLAT(window->mid), half = SPLAT(window->half),
              one = SPLAT(1.0), most_raw = SPLAT(DBL_MAX);
    const vec first = SPLAT(run ? run->first : 0.0), last = SPLAT(run ? run->last : 0.0),
              first_at = SPLAT(run ? run->first_at : 0.0),
              last_at = SPLAT(run ? run->last_at : 0.0);
    vec place[PARTS], s[PARTS] = {0}, w[PARTS] = {0}, w2[PARTS] = {0}, c[PARTS] = {0},
                      v[PARTS] = {0}, t2[PARTS] = {0}, tw[PARTS] = {0}, kept[PARTS] = {0};
    for (int k = 0; k < PARTS; k++)
        for (int i = 0; i < WIDTH; i++)
            place[k][i] = k * WIDTH + i;
    for (size_t i = 0; i < ring->count; i += AIRY_RING_LANES)
        for (int k = 0; k < PARTS; k++) {
            const size_t at = i + (size_t)k * WIDTH;
            const struct NAME(terms) t = NAME(load)(ring, at, weights);
            bits in;
            if (run) {
                const vec x = *(const vec *)(run->x + at);
                in = ((x > first) | ((x == first) & (place[k] >= first_at))) &
                     ((x < last) | ((x == last) & (place[k] <= last_at)));
                place[k] += (double)AIRY_RING_LANES;
            } else {
                in = ABS(t.s - t.omega * mid) <= half * ABS(t.omega);
            }
            const vec s1 = SELECT(in, t.s), w1 = SELECT(in, t.omega);
            s[k] += s1;
            w[k] += w1;
            w2[k] += w1 * w1;
            kept[k] += SELECT(in, one);
            if (weights != AIRY_RING_ONES)
                c[k] += SELECT(in, t.c);
            vec variance = {0};
            if (variances == AIRY_RING_BY_ENTRY) {
                variance = *(const vec *)(ring->v + at);
            } else if (variances == AIRY_RING_BY_COUNTS) {
                const bits more = t.raw > one;
                variance = CHOOSE(more, t.raw, one);
                if (weights != AIRY_RING_ONES)
                    variance *= t.weight * t.weight;
            }
            if (outside)
                n = KEEP_TERMS(outside, n, t.s, t.omega, weights == AIRY_RING_ONES ? one : t.c,
                               variance, ~in & (ABS(t.raw) <= most_raw));
            if (variances != AIRY_RING_ABOUT_PIVOT) {
                v[k] += SELECT(in, variance);
            } else {
                const vec d = s1 - w1 * pivot;
                t2[k] += d * d;
                tw[k] += d * w1;
            }
        }
    *sums = (struct airy_ring_sums){.s = NAME(total)(s),
                                    .omega = NAME(total)(w),
                                    .omega2 = NAME(total)(w2),
                                    .v = NAME(total)(v),
                                    .t2 = NAME(total)(t2),
                                    .t_omega = NAME(total)(tw),
                                    .kept = NAME(total)(kept)};
    sums->c = weights == AIRY_RING_ONES ? sums->kept : NAME(total)(c);
    if (!outside)
        return;
    outside->count = n;
    for (size_t i = n; i < n + AIRY_RING_LANES; i++) {
        outside->s[i] = (double)NAN; /* which no comparison holds for */
        outside->omega[i] = outside->c[i] = outside->v[i] = 0.0;
    }
}

#define SUM_BY(what, run, outside, weights)                                                        \
    static void NAME(what##_##weights)(                                                            \
        struct airy_ring_sums * sums, const struct airy_ring_bin *ring,                            \
        const struct airy_ring_window *window, const struct airy_ring_run *given,                  \
        struct airy_ring_bin *tail)                                                                \
    {                                                                                              \
        (void)given;                                                                               \
        (void)tail;                                                                                \
        if (ring->variances == AIRY_RING_BY_ENTRY)                                                 \
            NAME(sum_of)(sums, ring, window, run, outside, weights, AIRY_RING_BY_ENTRY);           \
        else if (ring->variances == AIRY_RING_BY_COUNTS)                                           \
            NAME(sum_of)(sums, ring, window, run, outside, weights, AIRY_RING_BY_COUNTS);          \
        else                                                                                       \
            NAME(sum_of)(sums, ring, window, run, outside, weights, AIRY_RING_ABOUT_PIVOT);        \
    }
#define SUM_OF(what, run, outside)                                                                 \
    SUM_BY(what, run, outside, AIRY_RING_ONES)                                                     \
    SUM_BY(what, run, outside, AIRY_RING_WEIGHTED)                                                 \
    SUM_BY(what, run, outside, AIRY_RING_UNWEIGHTED)
SUM_OF(window, NULL, NULL)
SUM_OF(run, given, NULL)
SUM_OF(cut, NULL, tail)
SUM_BY(window, NULL, NULL, AIRY_RING_TERMS)

#define BY_WEIGHTS(what, ...)                                                                      \
    switch (ring->weights) {                                                                       \
    case AIRY_RING_ONES:                                                                           \
        NAME(what##_AIRY_RING_ONES)(sums, ring, window, __VA_ARGS__);                              \
        break;                                                                                     \
    case AIRY_RING_WEIGHTED:                                                                       \
        NAME(what##_AIRY_RING_WEIGHTED)(sums, ring, window, __VA_ARGS__);                          \
        break;                                                                                     \
    default:                                                                                       \
        NAME(what##_AIRY_RING_UNWEIGHTED)(sums, ring, window, __VA_ARGS__);                        \
    }

static void NAME(sum)(struct airy_ring_sums *sums, const struct airy_ring_bin *ring,
                      const struct airy_ring_window *window, const struct airy_ring_run *run)
{
    if (ring->weights == AIRY_RING_TERMS) {
        NAME(window_AIRY_RING_TERMS)(sums, ring, window, NULL, NULL);
    } else if (run) {
        BY_WEIGHTS(run, run, NULL)
    } else {
        BY_WEIGHTS(window, NULL, NULL)
    }
}

static void NAME(cut)(struct airy_ring_sums *sums, struct airy_ring_bin *outside,
                      const struct airy_ring_bin *ring, const struct airy_ring_window *window)
{
    BY_WEIGHTS(cut, NULL, outside)
}

const struct airy_ring_kernels NAME(airy_rings) = {
    .gather = {[AIRY_DTYPE_U8] = NAME(gather_u8),
               [AIRY_DTYPE_I8] = NAME(gather_i8),
               [AIRY_DTYPE_U16] = NAME(gather_u16),
               [AIRY_DTYPE_I16] = NAME(gather_i16),
               [AIRY_DTYPE_U32] = NAME(gather_u32),
               [AIRY_DTYPE_I32] = NAME(gather_i32),
               [AIRY_DTYPE_F32] = NAME(gather_f32),
               [AIRY_DTYPE_F64] = NAME(gather_f64)},
    .any_bad = NAME(any_bad),
    .sum = NAME(sum),
    .cut = NAME(cut),
    .values = NAME(values),
    .ranked = NAME(ranked),
    .split = NAME(split),
};

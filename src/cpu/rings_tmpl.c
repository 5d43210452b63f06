/*
 * The kernels of rings: compiled once for each instruction set, which defines SET, its name, first.
 * Vectors of the compiler, as wide as the set's.
 */
#include <float.h>
#include <math.h>

#include "cpu/cpu_rings.h"
#include "cpu/set_tmpl.h"

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
DEFINE_GATHER(u32, uint32_t)
DEFINE_GATHER(i32, int32_t)
DEFINE_GATHER(f32, float)
DEFINE_GATHER(f64, double)

#define SPLAT(x)        ((vec){0} + (x))
#define SELECT(mask, x) ((vec)((bits)(x) & (mask)))
#define ABS(x)          ((vec)((bits)(x)&INT64_MAX))

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

static void NAME(terms)(struct airy_ring_bin *ring, const float *restrict weight,
                        const float *restrict factor, bool unweighted)
{
    const double *restrict raw = ring->raw;
    double *restrict s = ring->s, *restrict omega = ring->omega;
    const size_t n = ring->count;
    for (size_t i = 0; i < n; i++)
        s[i] = (double)weight[i] * raw[i];
    if (unweighted)
        for (size_t i = 0; i < n; i++)
            omega[i] = (double)factor[i];
    else
        for (size_t i = 0; i < n; i++)
            omega[i] = (double)weight[i] * (double)factor[i];
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

static double NAME(values)(double *restrict x, double *restrict g, const struct airy_ring_bin *ring,
                           double scale)
{
    const double *restrict s = ring->s, *restrict omega = ring->omega;
    const vec vscale = SPLAT(scale), whole = SPLAT(0x1p52);
    vec weight[PARTS] = {0};
    for (size_t i = 0; i < ring->count; i += AIRY_RING_LANES)
        for (int k = 0; k < PARTS; k++) {
            const size_t at = i + (size_t)k * WIDTH;
            const vec w = *(const vec *)(omega + at);
            *(vec *)(x + at) = *(const vec *)(s + at) / w;
            /* rint: what is below 2^52 has no fraction left after this */
            const vec rounded = ABS(w) * vscale + whole - whole;
            *(vec *)(g + at) = rounded;
            weight[k] += rounded;
        }
    return NAME(total)(weight);
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

static size_t NAME(split)(struct airy_ring_list *inside, double *below,
                          const struct airy_ring_list *all, double lo, double hi)
{
    const vec vlo = SPLAT(lo), vhi = SPLAT(hi);
    vec weight = {0};
    bits count = {0};
    size_t n = 0, i = 0;
    for (; i + WIDTH <= all->count; i += WIDTH) {
        const vec x = *(const vec *)(all->x + i);
        const bits low = x < vlo, in = ~low & (x <= vhi);
        weight += SELECT(low, *(const vec *)(all->g + i));
        count -= low;
        n = KEEP(inside, n, all, i, in);
    }
    size_t before = 0;
    *below = 0.0;
    for (int k = 0; k < WIDTH; k++) {
        *below += weight[k];
        before += (size_t)count[k];
    }
    for (; i < all->count; i++) {
        const double x = all->x[i];
        if (x < lo) {
            *below += all->g[i];
            before++;
        } else if (x <= hi) {
            inside->x[n] = x;
            inside->g[n] = all->g[i];
            inside->at[n++] = all->at ? all->at[i] : (uint32_t)i;
        }
    }
    inside->count = n;
    return before;
}

static inline __attribute__((always_inline)) void
NAME(sum_of)(struct airy_ring_sums *sums, const struct airy_ring_bin *ring, double pivot,
             double mid, double half, const struct airy_ring_run *run, const bool has_c,
             const bool has_v)
{
    const vec vpivot = SPLAT(pivot), vmid = SPLAT(mid), vhalf = SPLAT(half), one = SPLAT(1.0);
    const vec first = SPLAT(run ? run->first : 0.0), last = SPLAT(run ? run->last : 0.0),
              first_at = SPLAT(run ? run->first_at : 0.0),
              last_at = SPLAT(run ? run->last_at : 0.0);
    vec place[PARTS];
    for (int k = 0; k < PARTS; k++)
        for (int i = 0; i < WIDTH; i++)
            place[k][i] = k * WIDTH + i;
    vec s[PARTS] = {0}, w[PARTS] = {0}, w2[PARTS] = {0}, c[PARTS] = {0}, v[PARTS] = {0},
        t2[PARTS] = {0}, tw[PARTS] = {0}, kept[PARTS] = {0};
    for (size_t i = 0; i < ring->count; i += AIRY_RING_LANES)
        for (int k = 0; k < PARTS; k++) {
            const size_t at = i + (size_t)k * WIDTH;
            const vec s0 = *(const vec *)(ring->s + at), w0 = *(const vec *)(ring->omega + at);
            bits in;
            if (run) {
                const vec x = *(const vec *)(run->x + at);
                in = ((x > first) | ((x == first) & (place[k] >= first_at))) &
                     ((x < last) | ((x == last) & (place[k] <= last_at)));
                place[k] += (double)AIRY_RING_LANES;
            } else {
                in = ABS(s0 - w0 * vmid) <= vhalf * ABS(w0);
            }
            const vec s1 = SELECT(in, s0), w1 = SELECT(in, w0);
            s[k] += s1;
            w[k] += w1;
            w2[k] += w1 * w1;
            kept[k] += SELECT(in, one);
            if (has_c)
                c[k] += SELECT(in, *(const vec *)(ring->c + at));
            if (has_v) {
                v[k] += SELECT(in, *(const vec *)(ring->v + at));
            } else {
                const vec t = s1 - w1 * vpivot;
                t2[k] += t * t;
                tw[k] += t * w1;
            }
        }
    *sums = (struct airy_ring_sums){.s = NAME(total)(s),
                                    .omega = NAME(total)(w),
                                    .omega2 = NAME(total)(w2),
                                    .v = NAME(total)(v),
                                    .t2 = NAME(total)(t2),
                                    .t_omega = NAME(total)(tw),
                                    .kept = NAME(total)(kept)};
    sums->c = has_c ? NAME(total)(c) : sums->kept;
}

static void NAME(sum)(struct airy_ring_sums *sums, const struct airy_ring_bin *ring, double pivot,
                      double mid, double half)
{
    if (ring->c && ring->v)
        NAME(sum_of)(sums, ring, pivot, mid, half, NULL, true, true);
    else if (ring->c)
        NAME(sum_of)(sums, ring, pivot, mid, half, NULL, true, false);
    else if (ring->v)
        NAME(sum_of)(sums, ring, pivot, mid, half, NULL, false, true);
    else
        NAME(sum_of)(sums, ring, pivot, mid, half, NULL, false, false);
}

static void NAME(sum_run)(struct airy_ring_sums *sums, const struct airy_ring_bin *ring,
                          const struct airy_ring_run *run, double pivot)
{
    if (ring->c && ring->v)
        NAME(sum_of)(sums, ring, pivot, 0.0, 0.0, run, true, true);
    else if (ring->c)
        NAME(sum_of)(sums, ring, pivot, 0.0, 0.0, run, true, false);
    else if (ring->v)
        NAME(sum_of)(sums, ring, pivot, 0.0, 0.0, run, false, true);
    else
        NAME(sum_of)(sums, ring, pivot, 0.0, 0.0, run, false, false);
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
    .terms = NAME(terms),
    .sum = NAME(sum),
    .values = NAME(values),
    .split = NAME(split),
    .sum_run = NAME(sum_run),
};

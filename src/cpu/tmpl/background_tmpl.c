/*
 * The background kernels: compiled once for each instruction set, which defines SET, its name,
 * first. Vectors of the compiler: what they become is the set's affair, the arithmetic is not.
 */
#include <string.h>

#include "cpu/cpu_background.h"
#include "cpu/tmpl/set_tmpl.h"

enum { WIDE = VECTOR / 8, NARROW = VECTOR / 4 };
typedef double wide __attribute__((vector_size(VECTOR)));
typedef int64_t wide_bits __attribute__((vector_size(VECTOR)));
typedef float half_narrow __attribute__((vector_size(VECTOR / 2)));
typedef int32_t half_bits __attribute__((vector_size(VECTOR / 2)));
typedef float narrow __attribute__((vector_size(VECTOR)));
typedef int32_t narrow_bits __attribute__((vector_size(VECTOR)));

static void NAME(bins)(uint32_t *counts, const double *values, size_t n,
                       const airy_background_bins *b)
{
    const wide *v = (const wide *)values;
    const wide zero = (wide){0} + b->zero, inverse = (wide){0} + b->inverse,
               levels = (wide){0} + (double)b->levels,
               none = (wide){0} + (double)AIRY_BACKGROUND_LEVELS;
    for (size_t i = 0; i < n / WIDE; i++) {
        const wide at = (v[i] - zero) * inverse + 0.5;
        const wide_bits in = (at >= 0.0) & (at < levels);
        const wide bin = (wide)(((wide_bits)at & in) | ((wide_bits)none & ~in));
        const half_bits index = __builtin_convertvector(bin, half_bits);
        for (int k = 0; k < WIDE; k++)
            counts[index[k]]++;
    }
}

static void NAME(bins_compat)(uint32_t *counts, const double *values, size_t n,
                              const airy_background_bins *b)
{
    const wide *v = (const wide *)values;
    const half_narrow scale = (half_narrow){0} + (float)b->scale,
                      shift = (half_narrow){0} + airy_background_shift(*b),
                      levels = (half_narrow){0} + (float)b->levels,
                      none = (half_narrow){0} + (float)AIRY_BACKGROUND_LEVELS;
    for (size_t i = 0; i < n / WIDE; i++) {
        const half_narrow at = __builtin_convertvector(v[i], half_narrow) / scale + shift;
        const half_bits in = (at > -1.0f) & (at < levels);
        const half_narrow bin = (half_narrow)(((half_bits)at & in) | ((half_bits)none & ~in));
        const half_bits index = __builtin_convertvector(bin, half_bits);
        for (int k = 0; k < WIDE; k++)
            counts[index[k]]++;
    }
}

static void NAME(sums)(struct airy_background_sums *before, const uint32_t *counts, size_t groups)
{
    struct airy_background_sums s = {0};
    before[0] = s;
    for (size_t g = 0; g < groups; g++) {
        uint64_t plain = 0, once = 0, twice = 0;
        for (uint32_t i = 0; i < AIRY_BACKGROUND_GROUP; i++) {
            const uint64_t c = counts[g * AIRY_BACKGROUND_GROUP + i];
            plain += c;
            once += c * i;
            twice += c * (i * i);
        }
        const uint64_t at = g * AIRY_BACKGROUND_GROUP;
        s.count += plain;
        s.first += once + at * plain;
        s.second += twice + 2 * at * once + at * at * plain;
        before[g + 1] = s;
    }
}

/* A loop over pixels, T wide, the last ones in part: EACH of x from src, its cubic, and other. */
#define DEFINE_MAP(name, type, T, LANES, EACH)                                                     \
    static void NAME(name##_run)(type * dst, const type *src, const type *places, size_t n,        \
                                 const airy_background_cubic *at, double number)                   \
    {                                                                                              \
        const T a = (T){0} + (type)at->a, b = (T){0} + (type)at->b, c = (T){0} + (type)at->c,      \
                d = (T){0} + (type)at->d, other = (T){0} + (type)number;                           \
        for (size_t i = 0; i < n; i += LANES) {                                                    \
            const size_t size = (n - i < LANES ? n - i : LANES) * sizeof(type);                    \
            T x = {0}, t = {0};                                                                    \
            if (size == sizeof(T)) {                                                               \
                memcpy(&x, src + i, sizeof(T));                                                    \
                memcpy(&t, places + i, sizeof(T));                                                 \
            } else {                                                                               \
                memcpy(&x, src + i, size);                                                         \
                memcpy(&t, places + i, size);                                                      \
            }                                                                                      \
            const T cubic = a + t * (b + t * (c + t * d));                                         \
            x = EACH;                                                                              \
            if (size == sizeof(T))                                                                 \
                memcpy(dst + i, &x, sizeof(T));                                                    \
            else                                                                                   \
                memcpy(dst + i, &x, size);                                                         \
        }                                                                                          \
    }

/* The larger, lane by lane. */
#define MAX_F32(x, y)                                                                              \
    ((narrow)(((narrow_bits)(x) & ((x) > (y))) | ((narrow_bits)(y) & ~((x) > (y)))))
#define MAX_F64(x, y) ((wide)(((wide_bits)(x) & ((x) > (y))) | ((wide_bits)(y) & ~((x) > (y)))))

DEFINE_MAP(less_f32, float, narrow, NARROW, (x - other) - cubic)
DEFINE_MAP(less_f64, double, wide, WIDE, (x - other) - cubic)
DEFINE_MAP(level_f32, float, narrow, NARROW, other + cubic)
DEFINE_MAP(level_f64, double, wide, WIDE, other + cubic)
DEFINE_MAP(noise_f32, float, narrow, NARROW, MAX_F32(cubic, other))
DEFINE_MAP(noise_f64, double, wide, WIDE, MAX_F64(cubic, other))

/* Maps that read nothing. */
#define DEFINE_ALONE(name, type)                                                                   \
    static void NAME(name)(type * dst, const type *t, size_t n, const airy_background_cubic *c,    \
                           double other)                                                           \
    {                                                                                              \
        NAME(name##_run)(dst, t, t, n, c, other);                                                  \
    }
DEFINE_ALONE(level_f32, float)
DEFINE_ALONE(level_f64, double)
DEFINE_ALONE(noise_f32, float)
DEFINE_ALONE(noise_f64, double)

const struct airy_background_kernels NAME(airy_background) = {
    .bins = NAME(bins),
    .bins_compat = NAME(bins_compat),
    .sums = NAME(sums),
    .level_f32 = NAME(level_f32),
    .level_f64 = NAME(level_f64),
    .less_f32 = NAME(less_f32_run),
    .less_f64 = NAME(less_f64_run),
    .noise_f32 = NAME(noise_f32),
    .noise_f64 = NAME(noise_f64),
};

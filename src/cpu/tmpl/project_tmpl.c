/*
 * The kernels of projections: compiled once for each instruction set, which defines SET, its name,
 * first. Sums of a line are 16, one of every sixteenth element each, in all sets.
 */
#include <math.h>

#include "cpu/cpu_project.h"
#include "cpu/tmpl/lanes_tmpl.h"

#define INLINE static inline __attribute__((always_inline))

INLINE double NAME(next)(double value, double mean, double x, airy_projection how)
{
    return how == AIRY_PROJECT_STD ? value + (x - mean) * (x - mean) : value + x;
}

INLINE void NAME(next_of_each)(double *restrict value, const double *restrict mean,
                               const double *restrict v, size_t n, size_t each, airy_projection how)
{
    for (size_t k = 0; k < each; k++)
        for (size_t i = 0; i < n; i++)
            value[i] = NAME(next)(value[i], mean[i], v[i * each + k], how);
}

/* Few elements of a box are the common case: loops that know how many. */
INLINE void NAME(boxes_of)(double *value, const double *mean, const double *v, size_t n,
                           size_t each, airy_projection how)
{
    if (each == 1)
        NAME(next_of_each)(value, mean, v, n, 1, how);
    else if (each == 2)
        NAME(next_of_each)(value, mean, v, n, 2, how);
    else if (each == 4)
        NAME(next_of_each)(value, mean, v, n, 4, how);
    else
        NAME(next_of_each)(value, mean, v, n, each, how);
}

static void NAME(boxes)(double *value, const double *mean, const double *v, size_t n, size_t each,
                        airy_projection how)
{
    if (how == AIRY_PROJECT_STD)
        NAME(boxes_of)(value, mean, v, n, each, AIRY_PROJECT_STD);
    else
        NAME(boxes_of)(value, mean, v, n, each, AIRY_PROJECT_SUM);
}

INLINE vec NAME(next_vec)(vec value, vec mean, vec x, airy_projection how)
{
    return how == AIRY_PROJECT_STD ? value + (x - mean) * (x - mean) : value + x;
}

INLINE double NAME(line_of)(double value, double mean, const double *values, size_t n,
                            airy_projection how)
{
    const vec means = SPLAT(mean);
    const size_t whole = n - n % AIRY_REDUCE_GROUP;
    vec lanes[PARTS];
    for (int k = 0; k < PARTS; k++)
        lanes[k] = SPLAT(0.0);
    for (size_t i = 0; i < whole / WIDTH; i += PARTS)
        for (int k = 0; k < PARTS; k++) {
            vec x;
            memcpy(&x, values + (i + (size_t)k) * WIDTH, sizeof(x));
            lanes[k] = NAME(next_vec)(lanes[k], means, x, how);
        }
    value += NAME(add_up)(lanes);
    for (size_t i = whole; i < n; i++)
        value = NAME(next)(value, mean, values[i], how);
    return value;
}

static double NAME(line)(double value, double mean, const double *values, size_t n,
                         airy_projection how)
{
    return how == AIRY_PROJECT_STD ? NAME(line_of)(value, mean, values, n, AIRY_PROJECT_STD)
                                   : NAME(line_of)(value, mean, values, n, AIRY_PROJECT_SUM);
}

#define IS_NAN(x) 0
#define T         uint8_t
#define E(name)   name##_u8
#include "cpu/tmpl/extreme_tmpl.c"

#define T       int8_t
#define E(name) name##_i8
#include "cpu/tmpl/extreme_tmpl.c"

#define T       uint16_t
#define E(name) name##_u16
#include "cpu/tmpl/extreme_tmpl.c"

#define T       int16_t
#define E(name) name##_i16
#include "cpu/tmpl/extreme_tmpl.c"

#define T       uint32_t
#define E(name) name##_u32
#include "cpu/tmpl/extreme_tmpl.c"

#define T       int32_t
#define E(name) name##_i32
#include "cpu/tmpl/extreme_tmpl.c"

#define T       uint64_t
#define E(name) name##_u64
#include "cpu/tmpl/extreme_tmpl.c"

#define T       int64_t
#define E(name) name##_i64
#include "cpu/tmpl/extreme_tmpl.c"

#undef IS_NAN
#define IS_NAN(x) ((x) != (x))
#define T         float
#define E(name)   name##_f32
#include "cpu/tmpl/extreme_tmpl.c"

#define T       double
#define E(name) name##_f64
#include "cpu/tmpl/extreme_tmpl.c"

const struct airy_project_kernels NAME(airy_project) = {
    .boxes = NAME(boxes),
    .line = NAME(line),
    .extremes = {[AIRY_DTYPE_U8] = extremes_u8,
                 [AIRY_DTYPE_I8] = extremes_i8,
                 [AIRY_DTYPE_U16] = extremes_u16,
                 [AIRY_DTYPE_I16] = extremes_i16,
                 [AIRY_DTYPE_U32] = extremes_u32,
                 [AIRY_DTYPE_I32] = extremes_i32,
                 [AIRY_DTYPE_U64] = extremes_u64,
                 [AIRY_DTYPE_I64] = extremes_i64,
                 [AIRY_DTYPE_F32] = extremes_f32,
                 [AIRY_DTYPE_F64] = extremes_f64},
};

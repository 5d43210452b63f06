/*
 * The kernels of projections: compiled once for each instruction set, which defines SET, its name,
 * first. Sums of a line are 16, one of every sixteenth element each, in all sets.
 */
#include <math.h>

#include "cpu/cpu_project.h"
#include "cpu/lanes_tmpl.h"

#define INLINE static inline __attribute__((always_inline))

INLINE double NAME(next)(double value, double mean, double x, airy_projection how)
{
    switch (how) {
    case AIRY_PROJECT_MAX:
        return x > value || x != x ? x : value;
    case AIRY_PROJECT_MIN:
        return x < value || x != x ? x : value;
    case AIRY_PROJECT_STD:
        return value + (x - mean) * (x - mean);
    default:
        return value + x;
    }
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
    switch (how) {
    case AIRY_PROJECT_MAX:
        NAME(boxes_of)(value, mean, v, n, each, AIRY_PROJECT_MAX);
        break;
    case AIRY_PROJECT_MIN:
        NAME(boxes_of)(value, mean, v, n, each, AIRY_PROJECT_MIN);
        break;
    case AIRY_PROJECT_STD:
        NAME(boxes_of)(value, mean, v, n, each, AIRY_PROJECT_STD);
        break;
    default:
        NAME(boxes_of)(value, mean, v, n, each, AIRY_PROJECT_SUM);
    }
}

INLINE vec NAME(next_vec)(vec value, vec mean, vec x, airy_projection how)
{
    switch (how) {
    case AIRY_PROJECT_MAX:
        return CHOOSE((x > value) | (x != x), x, value);
    case AIRY_PROJECT_MIN:
        return CHOOSE((x < value) | (x != x), x, value);
    case AIRY_PROJECT_STD:
        return value + (x - mean) * (x - mean);
    default:
        return value + x;
    }
}

INLINE double NAME(line_of)(double value, double mean, const double *values, size_t n,
                            airy_projection how)
{
    const vec means = SPLAT(mean);
    const bool sums = how != AIRY_PROJECT_MAX && how != AIRY_PROJECT_MIN;
    const size_t whole = n - n % AIRY_REDUCE_GROUP;
    vec lanes[PARTS];
    for (int k = 0; k < PARTS; k++)
        lanes[k] = SPLAT(sums ? 0.0 : value);
    for (size_t i = 0; i < whole / WIDTH; i += PARTS)
        for (int k = 0; k < PARTS; k++) {
            vec x;
            memcpy(&x, values + (i + (size_t)k) * WIDTH, sizeof(x));
            lanes[k] = NAME(next_vec)(lanes[k], means, x, how);
        }
    if (sums) {
        value += NAME(add_up)(lanes);
    } else {
        for (int k = 0; k < PARTS; k++)
            for (int i = 0; i < WIDTH; i++)
                value = NAME(next)(value, mean, lanes[k][i], how);
    }
    for (size_t i = whole; i < n; i++)
        value = NAME(next)(value, mean, values[i], how);
    return value;
}

static double NAME(line)(double value, double mean, const double *values, size_t n,
                         airy_projection how)
{
    switch (how) {
    case AIRY_PROJECT_MAX:
        return NAME(line_of)(value, mean, values, n, AIRY_PROJECT_MAX);
    case AIRY_PROJECT_MIN:
        return NAME(line_of)(value, mean, values, n, AIRY_PROJECT_MIN);
    case AIRY_PROJECT_STD:
        return NAME(line_of)(value, mean, values, n, AIRY_PROJECT_STD);
    default:
        return NAME(line_of)(value, mean, values, n, AIRY_PROJECT_SUM);
    }
}

const struct airy_project_kernels NAME(airy_project) = {.boxes = NAME(boxes), .line = NAME(line)};

#include <math.h>
#include <stdbool.h>

#include "integrate/split_cut.h"

/*
 * The arc tangent of t, |t| <= 2^-4: eight terms of its series, of which the next is below 2^-68 of
 * the first.
 */
static inline double arc_of(double t)
{
    const double s = t * t;
    double series = 1.0 / 13 - s * (1.0 / 15);
    series = 1.0 / 11 - s * series;
    series = 1.0 / 9 - s * series;
    series = 1.0 / 7 - s * series;
    series = 1.0 / 5 - s * series;
    series = 1.0 / 3 - s * series;
    return t - t * s * series;
}

/* Not next to the beam, where the series holds. */
static inline bool is_small(double cross, double dot)
{
    return dot > 0 && fabs(cross) <= 0x1p-4 * dot;
}

void airy_split_turns(double *restrict turn, const double *y0, const double *x0, const double *y1,
                      const double *x1, size_t n)
{
    size_t large = 0;
    for (size_t k = 0; k < n; k++) {
        const double cross = x0[k] * y1[k] - y0[k] * x1[k], dot = x0[k] * x1[k] + y0[k] * y1[k];
        turn[k] = arc_of(cross / dot);
        large += is_small(cross, dot) ? 0 : 1;
    }
    for (size_t k = 0; large > 0 && k < n; k++) {
        const double cross = x0[k] * y1[k] - y0[k] * x1[k], dot = x0[k] * x1[k] + y0[k] * y1[k];
        if (!is_small(cross, dot))
            turn[k] = atan2(cross, dot);
    }
}

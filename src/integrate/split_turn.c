#include <math.h>

#include "integrate/split_cut.h"

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
            turn[k] = angle_of(cross, dot);
    }
}

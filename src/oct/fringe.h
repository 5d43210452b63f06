/* The fringe of a mirror in one line: its band, its analytic signal, its peak. */
#ifndef AIRY_OCT_FRINGE_H
#define AIRY_OCT_FRINGE_H

#include <stddef.h>

#include "airy/status.h"

/* Complex numbers are real and imaginary part in turn. */
struct airy_fringe_plan {
    size_t samples, grid; /* grid: a power of two, 2 to 4 times samples */
    double *circle;       /* [2 grid] */
    double *window;       /* [samples], of widths */
    double *hann;         /* [samples] */
    double *buffer;       /* [2 grid] */
    double *power;        /* [grid / 2] */
    double *smooth;       /* [grid / 2] */
};

/* Places on the grid: 1 from first to last, falling to 0 at low and high. */
struct airy_fringe_band {
    size_t low, first, peak, last, high;
    double contrast; /* dB of the peak above the noise */
    double valley;   /* the least power between depth 0 and the peak, of the peak's */
};

/* window: [samples], copied. The plan is freed in any case. */
airy_status airy_fringe_begin(struct airy_fringe_plan *plan, size_t samples, const double *window);
void airy_fringe_end(struct airy_fringe_plan *plan);
/* |F|^2 of z [samples] times a window, at every place of the grid below its half. */
void airy_fringe_power(const struct airy_fringe_plan *plan, const double *z, const double *window,
                       double *power);
struct airy_fringe_band airy_fringe_find(const struct airy_fringe_plan *plan, const double *z);
/* Of the line that was searched last: all above the least power between depth 0 and the band. */
struct airy_fringe_band airy_fringe_above(const struct airy_fringe_plan *plan,
                                          const struct airy_fringe_band *band);
/* a: [samples], the band of z alone; z may be a. */
void airy_fringe_analytic(const struct airy_fringe_plan *plan, const double *z,
                          const struct airy_fringe_band *band, double *a);
/*
 * Of |sum_j window z exp(-2 pi i p j / samples)|: its maximum within a few bins of *position and its
 * width at half of that, in bins.
 */
void airy_fringe_width(const struct airy_fringe_plan *plan, const double *z, double *position,
                       double *width);

#endif

/*
 * Pixels that stand out of their ring and the peaks among them, from the definition in
 * airy/peaks.h, in double precision. What rounding may decide is told apart from what it may not.
 */
#ifndef AIRY_TESTS_REF_PEAKS_H
#define AIRY_TESTS_REF_PEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "airy/peaks.h"

/* Of a frame. */
struct ref_peaks {
    size_t height, width, bins;
    const double *mean, *std;      /* [bins], NaN where the bin has no pixels */
    const double *radial, *radius; /* [bins] centres; [pixels] */
    const double *raw, *norm;      /* [pixels]; dark: NULL for none */
    const float *dark;
    const uint8_t *counts, *out; /* [pixels]; out: left out of this frame */
    airy_peak_params params;     /* all of it filled in */
    bool strict;
    double error; /* of v, relative to |raw - dark| / n + |b| */
    /* results, [pixels] */
    double *v, *u, *slack; /* slack: v may be wrong by so much */
    int8_t *kept, *peak;   /* 1 yes, 0 no, -1 rounding decides */
};

void ref_peaks_find(struct ref_peaks *r);

struct ref_peak {
    double y, x, intensity, sigma;
    double slack;         /* sum of |error of v| over the patch */
    uint32_t least, most; /* candidates: certain ones, and with those that rounding decides */
    bool doubtful;        /* whether some pixel counts */
};
struct ref_peak ref_peaks_measure(const struct ref_peaks *r, size_t index);

#endif

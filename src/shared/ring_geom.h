/*
 * Which entries of a bin take part: sigma clipping and the quantile filter, the same on host and
 * device. The words are those of airy/integrate.h: entry, omega, s, x.
 */
#ifndef AIRY_SHARED_RING_GEOM_H
#define AIRY_SHARED_RING_GEOM_H

#ifndef __OPENCL_VERSION__
#include <math.h>
#endif

#include "shared/scalar.h"

#define AIRY_RING_NONE     0u
#define AIRY_RING_CLIP     1u
#define AIRY_RING_QUANTILE 2u

/* Sums of a bin's variances. */
#define AIRY_RING_ZERO    0u /* none */
#define AIRY_RING_POISSON 1u /* weight^2 max(1, raw) */
#define AIRY_RING_GIVEN   2u /* weight^2 variance */
#define AIRY_RING_SPREAD  3u /* (s - omega mean)^2 */

typedef struct airy_ring_rule {
    double threshold;   /* clip */
    double quantile[2]; /* quantile filter, 0 <= [0] <= [1] <= 1 */
    airy_u32 kind;      /* AIRY_RING_NONE, _CLIP, _QUANTILE */
    airy_u32 cycles;    /* at least 1 */
    airy_u32 clips_by;  /* whose sum gives std while clipping: AIRY_RING_POISSON, _GIVEN, _SPREAD */
    airy_u32 leaves;    /* the variance plane at the end */
    airy_u32 compat;    /* 1: compat pyfai */
    airy_u32 unused;
} airy_ring_rule;
AIRY_ASSERT_SIZE(airy_ring_rule, 48);

/* ln(sqrt(2 pi)) */
#define AIRY_RING_LN_SQRT_2_PI 0.91893853320467274178

/* In standard deviations; count: sum c of the entries that are kept. */
static inline double airy_ring_cutoff(double threshold, double count)
{
    const double chauvenet = sqrt(2.0 * (log(fmax(3.0, count)) - AIRY_RING_LN_SQRT_2_PI));
    return fmax(threshold, chauvenet);
}

/* x farther from the mean than this is rejected. Not finite: the bin stops. */
static inline double airy_ring_limit(airy_ring_rule rule, double mean, double std, double count)
{
    const double limit = airy_ring_cutoff(rule.threshold, count) * std;
    return rule.compat ? limit : fmax(limit, 0x1p-40 * fabs(mean));
}

/*
 * Whether a bin of which a cycle would leave less than half starts anew, once, from its lower median:
 * where standard deviations are expected ones, few strong entries lift the mean far above all others.
 * By the spread that entries have, a cutoff of sqrt(2) or more never rejects more than half.
 */
static inline int airy_ring_starts_anew(airy_ring_rule rule)
{
    return rule.compat == 0u &&
           (rule.clips_by == AIRY_RING_POISSON || rule.clips_by == AIRY_RING_GIVEN);
}

/* kept: entries that a cycle leaves; all: those before the first cycle. */
static inline int airy_ring_loses_most(double kept, double all)
{
    return 2.0 * kept < all;
}

/* The largest x of the lower half; rounding of x decides about no entry. */
static inline double airy_ring_lower_half(double median)
{
    return median + 0x1p-40 * fabs(median);
}

/* std: the expected one of the lower half. Few entries are no reason to reject any by less than 3. */
static inline double airy_ring_robust_limit(airy_ring_rule rule, double median, double std,
                                            double count)
{
    return fmax(fmax(airy_ring_cutoff(rule.threshold, count), 3.0) * std, 0x1p-40 * fabs(median));
}

/*
 * Quantile filter: weights are rint(|omega| scale), and all sums of them below 2^53, so that they
 * are exact in any order. bound: a power of two not below sqrt(m sum omega^2), which is not below
 * the sum of |omega|, over all entries of the bin that any frame may have.
 */
static inline double airy_ring_scale(double bound)
{
    return 0x1p52 / bound;
}

/* The interval [a, b] of an entry against [lower, upper] = quantile W, all in rounded weights. */
static inline int airy_ring_keeps(double a, double b, double lower, double upper)
{
    return (lower <= a && b <= upper) || (a <= lower && upper <= b);
}

/* Where airy_ring_keeps no entry at all (never with compat). */
static inline int airy_ring_meets(double a, double b, double lower, double upper)
{
    return a <= upper && lower <= b;
}

#endif

/*
 * Sigma clipping and the quantile filter by bin, as airy/integrate.h defines them, as naive loops
 * over a given matrix.
 */
#ifndef REF_RINGS_H
#define REF_RINGS_H

#include "ref_matrix_sums.h"

enum ref_ring_variance { REF_RING_ZERO, REF_RING_POISSON, REF_RING_GIVEN, REF_RING_SPREAD };

struct ref_ring_rules {
    int quantile, compat; /* quantile 0: clip */
    double threshold, lower, upper;
    unsigned cycles;
    enum ref_ring_variance clips_by, leaves;
    double lo, hi; /* raw values that are left out, and those that are not finite */
};

/*
 * sums: [5][bins], in the order of airy_sum. tolerance: the same, what rounding may change.
 * doubtful: [bins], not 0 where an entry is so near to a limit that rounding may decide.
 */
void ref_rings(double *sums, double *tolerance, unsigned char *doubtful,
               const struct ref_matrix *matrix, const double *frame,
               const struct ref_ring_rules *rules);

#endif

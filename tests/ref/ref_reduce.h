/* Statistics and clips from their definitions: sorted copies and plain loops. */
#ifndef AIRY_TESTS_REF_REDUCE_H
#define AIRY_TESTS_REF_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ref_statistics {
    uint64_t count, nan, infinite, masked, min_at, max_at;
    double min, max, sum, mean, std, median, mad;
};

/* mask NULL: none. */
void ref_statistics(struct ref_statistics *s, const double *x, const uint8_t *mask, size_t n);
/* The counts and extremes of it alone. */
void ref_counts(struct ref_statistics *s, const double *x, const uint8_t *mask, size_t n);
/* NumPy's linear quantile. */
double ref_quantile(const double *x, const uint8_t *mask, size_t n, double fraction);

struct ref_clip {
    double kappa_low, kappa_high;
    bool mean, mad, inclusive;
    size_t iterations;
};
/* What is left; keep[n]: 1 = left. Returns the passes. */
uint64_t ref_clip(struct ref_statistics *s, uint8_t *keep, const double *x, const uint8_t *mask,
                  size_t n, const struct ref_clip *p);

#endif

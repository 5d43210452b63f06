/* Order statistics from their definition. */
#ifndef AIRY_TESTS_REF_RANK_H
#define AIRY_TESTS_REF_RANK_H

#include <stdint.h>

#include "ref_filter.h"

struct ref_rank {
    size_t n[3], k[3];        /* z, y, x of the image, the footprint */
    size_t before[3];         /* elements of the footprint in front of the result's */
    const uint8_t *footprint; /* NULL: all of it */
    enum ref_border border;
    const void *value; /* an element */
    size_t elem;       /* bytes */
    int (*compare)(const void *a, const void *b);
    size_t rank;
};

void ref_rank(void *dst, const void *src, const struct ref_rank *p);

struct ref_hampel {
    size_t n[3], k[3]; /* z, y, x of the image, the box; k odd */
    enum ref_border border;
    double value; /* of the border */
    double kappa;
};

/* Elements that are off the median of their box by more than kappa 1.482602218505602 MAD become it. */
void ref_hampel(double *dst, const double *src, const struct ref_hampel *p);

#endif

/* Order statistics of an array: exact, for any data. */
#ifndef AIRY_REDUCE_SELECT_H
#define AIRY_REDUCE_SELECT_H

#include <string.h>

#include "reduce/reduce_fns.h"

/* 64-bit keys in the order of the values. */
static inline uint64_t airy_key_of(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof(b));
    return b >> 63 ? ~b : b | UINT64_C(1) << 63;
}

static inline double airy_of_key(uint64_t key)
{
    const uint64_t b = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
    double x;
    memcpy(&x, &b, sizeof(x));
    return x;
}

/*
 * Elements number rank (from 0, ascending) and rank + 1, or the last one twice, of the `among`
 * elements that the order admits; both: the second one is asked for.
 */
airy_status airy_select_pair(double pair[2], const struct airy_reduce_source *source,
                             const struct airy_reduce_order *order, uint64_t among, uint64_t rank,
                             bool both);
/* The mean of the two elements in the middle, or the one. NaN of none. */
airy_status airy_select_median(double *value, const struct airy_reduce_source *source,
                               const struct airy_reduce_order *order, uint64_t among);
/* Element rank of a list, which is reordered. */
double airy_select_nth(double *values, size_t count, size_t rank);

/*
 * Elements that the order admits, from all over the array; the same ones each time. values: room
 * for AIRY_SAMPLE elements; *count of them.
 */
enum { AIRY_SAMPLE = AIRY_SAMPLE_RUN * AIRY_SAMPLE_RUNS };
airy_status airy_select_sample(double *values, size_t *count,
                               const struct airy_reduce_source *source,
                               const struct airy_reduce_order *order);
/* A range that very likely holds element rank of `among`, from a sample, which is reordered. */
void airy_select_window(double *lo, double *hi, double *sample, size_t count, uint64_t among,
                        uint64_t rank);

#endif

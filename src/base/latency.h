/*
 * Times, counted in classes of 1/64 of their power of two, so that quantiles are right to 1.6
 * percent. Written by one thread, read by any while it is.
 */
#ifndef AIRY_BASE_LATENCY_H
#define AIRY_BASE_LATENCY_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    AIRY_LATENCY_PARTS = 64, /* of a power of two */
    AIRY_LATENCY_BITS = 40,  /* times from 2^40 ns = 18 minutes on count as that */
    AIRY_LATENCY_CLASSES = (AIRY_LATENCY_BITS - 5) * AIRY_LATENCY_PARTS
};

struct airy_latency {
    atomic_uint_least64_t counts[AIRY_LATENCY_CLASSES];
    atomic_uint_least64_t total, max;
};

void airy_latency_add(struct airy_latency *latency, uint64_t ns);
/*
 * A time that this share of all times does not exceed: the upper end of its class, or the largest
 * time if that is less. 0: none was counted.
 */
uint64_t airy_latency_quantile(struct airy_latency *latency, double share);

#endif

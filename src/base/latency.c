#include "base/latency.h"

#include <math.h>

/* Times below 64 have a class each; above, the six bits after the highest choose it. */
static unsigned class_of(uint64_t ns)
{
    if (ns >> AIRY_LATENCY_BITS)
        return AIRY_LATENCY_CLASSES - 1;
    if (ns < AIRY_LATENCY_PARTS)
        return (unsigned)ns;
    const unsigned shift = 63u - (unsigned)__builtin_clzll(ns) - 6u;
    return shift * AIRY_LATENCY_PARTS + (unsigned)(ns >> shift);
}

/* The largest time of a class. */
static uint64_t end_of(unsigned class)
{
    if (class < 2 * AIRY_LATENCY_PARTS)
        return class;
    const unsigned shift = class / AIRY_LATENCY_PARTS - 1;
    return ((class % AIRY_LATENCY_PARTS + AIRY_LATENCY_PARTS + 1ull) << shift) - 1;
}

void airy_latency_add(struct airy_latency *latency, uint64_t ns)
{
    atomic_fetch_add_explicit(&latency->counts[class_of(ns)], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&latency->total, 1, memory_order_relaxed);
    if (ns > atomic_load_explicit(&latency->max, memory_order_relaxed))
        atomic_store_explicit(&latency->max, ns, memory_order_relaxed);
}

uint64_t airy_latency_quantile(struct airy_latency *latency, double share)
{
    const uint64_t total = atomic_load_explicit(&latency->total, memory_order_relaxed);
    const uint64_t max = atomic_load_explicit(&latency->max, memory_order_relaxed);
    const double wanted = ceil(share * (double)total);
    uint64_t below = 0;
    for (unsigned i = 0; total && i < AIRY_LATENCY_CLASSES; i++) {
        below += atomic_load_explicit(&latency->counts[i], memory_order_relaxed);
        if (below > 0 && (double)below >= wanted)
            return end_of(i) < max && i < AIRY_LATENCY_CLASSES - 1 ? end_of(i) : max;
    }
    return max;
}

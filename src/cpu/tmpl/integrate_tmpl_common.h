/* What the integrate kernels of every instruction set and dtype include before integrate_tmpl.c. */
#ifndef AIRY_CPU_TMPL_INTEGRATE_TMPL_COMMON_H
#define AIRY_CPU_TMPL_INTEGRATE_TMPL_COMMON_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "cpu/cpu_integrate.h"

#define AIRY_ALWAYS_INLINE inline __attribute__((always_inline))
#define AIRY_MAYBE_UNUSED  __attribute__((unused))

static inline void airy_raw_stats_max(struct airy_raw_stats *stats, double v)
{
    if (!stats->any || v > stats->max)
        stats->max = v;
    stats->any = true;
}

/* The table's line of a dtype, of the functions that integrate_tmpl.c made under the suffix. */
#define AIRY_RAW_FNS(suffix)                                                                       \
    {                                                                                              \
        .wide = {sum_wide_##suffix, second_wide_##suffix},                                         \
        .single = {sum_single_##suffix, second_single_##suffix}, .scan = scan_##suffix,            \
        .clean = clean_##suffix                                                                    \
    }

#endif

/* What the front asks of walks over an array. */
#ifndef AIRY_REDUCE_STATISTICS_H
#define AIRY_REDUCE_STATISTICS_H

#include "reduce/reduce_fns.h"

/* 1 / (the 3/4 quantile of the normal distribution) */
#define AIRY_MAD_SCALE 1.482602218505602

/* Of `count` images, whose sources are of one queue. */
airy_status airy_reduce_statistics(const struct airy_reduce_source *sources, size_t count,
                                   airy_statistics *results, unsigned flags);
airy_status airy_reduce_clip(const struct airy_reduce_source *sources, size_t count,
                             airy_clip_result *results, const airy_clip_params *params);
airy_status airy_reduce_quantiles(const struct airy_reduce_source *source, double *values,
                                  const double *fractions, size_t count);

#endif

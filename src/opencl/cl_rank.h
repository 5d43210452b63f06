/* Rank filters. */
#ifndef AIRY_OPENCL_CL_RANK_H
#define AIRY_OPENCL_CL_RANK_H

#include "filter/filter_fns.h"

airy_status airy_cl_rank(airy_queue *queue, const struct airy_rank_plan *plan);
airy_status airy_cl_hampel(airy_queue *queue, const struct airy_hampel_plan *plan);

#endif

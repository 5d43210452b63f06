/* Statistics without the host between (cl_clip.c), and what they share with walks (cl_reduce.c). */
#ifndef AIRY_OPENCL_CL_REDUCE_H
#define AIRY_OPENCL_CL_REDUCE_H

#include "reduce/reduce_fns.h"

/* Types that f32 does not hold are compared as f64. */
static inline bool airy_cl_is_wide(airy_dtype dtype)
{
    return dtype != AIRY_DTYPE_F32 && airy_dtype_size(dtype) >= 4;
}

airy_status airy_cl_solve(const struct airy_reduce_source *sources, size_t count,
                          const airy_clip_params *params, bool median,
                          struct airy_reduce_solution *solutions);

#endif

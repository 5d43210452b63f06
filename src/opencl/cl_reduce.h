/* Statistics without the host between (cl_clip.c), and what they share with walks (cl_reduce.c). */
#ifndef AIRY_OPENCL_CL_REDUCE_H
#define AIRY_OPENCL_CL_REDUCE_H

#include "reduce/reduce_fns.h"

/* The first `size` bytes of scratch as an array. */
static inline airy_array airy_cl_bytes_of(airy_buffer *buffer, size_t size)
{
    return (airy_array){
        .buffer = buffer, .dtype = AIRY_DTYPE_U8, .ndim = 1, .shape = {size}, .pitch = {1}};
}

/* Types that f32 does not hold are compared as f64. */
static inline bool airy_cl_is_wide(airy_dtype dtype)
{
    return dtype != AIRY_DTYPE_F32 && airy_dtype_size(dtype) >= 4;
}

airy_status airy_cl_solve(const struct airy_reduce_source *source, const airy_clip_params *params,
                          bool median, struct airy_reduce_solution *solution);

#endif

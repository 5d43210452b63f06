/* Launches of the kernels of convolution: weights by value or from a buffer, options, arguments. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "core/backend.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_convolve.h"
#include "opencl/cl_launch.h"
#include "opencl/cl_move.h"

enum {
    TABLE = 256, /* weights by value */
    SMALL_TABLE = 64,
    UNIT = 16 /* bytes; local memory is counted in such */
};

size_t airy_convolve_units(const struct airy_convolve_pass *pass)
{
    return UNIT / airy_dtype_size(pass->dst.dtype);
}

/* Weights in the dtype of the result; what block has room for besides is left as it is. */
static void convert_weights(void *block, const struct airy_convolve_pass *pass)
{
    for (size_t i = 0; i < pass->weight_count; i++) {
        if (pass->dst.dtype == AIRY_DTYPE_F32)
            ((float *)block)[i] = (float)pass->weights[i];
        else
            ((double *)block)[i] = pass->weights[i];
    }
}

/*
 * Weights on the device. They are copied before this returns, and the queue's order keeps a launch
 * before the next push.
 */
static airy_status push_weights(const struct airy_convolve_pass *pass, airy_buffer **buffer)
{
    const size_t size = pass->weight_count * airy_dtype_size(pass->dst.dtype);
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, size, 1, "weights"));
    convert_weights(block, pass);
    airy_status status = airy_queue_scratch(pass->queue, AIRY_SCRATCH_SMALL, size, buffer);
    if (status == AIRY_OK) {
        const airy_array bytes = airy_cl_bytes_of(*buffer, size);
        status = airy_cl_push(pass->queue, &bytes, block, false);
    }
    free(block);
    return status;
}

/* None where they are too many for that, or for what the device takes as arguments. */
size_t airy_convolve_table(const struct airy_convolve_pass *pass)
{
    enum { OTHERS = 64 /* bytes of the other arguments */ };
    const size_t table = pass->weight_count <= SMALL_TABLE ? SMALL_TABLE : TABLE;
    const size_t size = table * airy_dtype_size(pass->dst.dtype) + sizeof(pass->geom) + OTHERS;
    const bool fits = pass->weight_count <= table &&
                      size <= airy_cl_device(pass->queue->device)->max_arguments;
    return fits ? table : 0;
}

airy_status airy_convolve_launch_box(struct airy_convolve_pass *pass,
                                     const struct airy_convolve_shape *shape,
                                     const size_t groups[3])
{
    char options[256];
    double block[TABLE] = {0};
    airy_buffer *buffer = NULL;
    const airy_dtype from = pass->src.dtype, to = pass->dst.dtype;
    const size_t elem = airy_dtype_size(to), table = airy_convolve_table(pass);
    snprintf(options, sizeof(options),
             "-DT=%s -DW=%s -DVL=%zu -DGROUP=%zu -DTABLE=%zu -DFETCH=%zu%s",
             airy_cl_types[from].name, airy_cl_types[to].name, airy_convolve_units(pass),
             shape->group, table, from == to ? elem : 0, shape->options);
    const struct airy_cl_kernel_spec spec = {shape->file, shape->kernel, options};
    if (table)
        convert_weights(block, pass);
    else
        AIRY_TRY(push_weights(pass, &buffer));
    const double wide = pass->outside;
    const float narrow = (float)pass->outside;
    struct airy_cl_arg args[6];
    size_t n = 0;
    args[n++] = pass->src.buffer;
    args[n++] = table ? (struct airy_cl_arg){.value = block, .size = table * elem}
                      : AIRY_CL_BUFFER(buffer);
    args[n++] = pass->dst.buffer;
    if (shape->memory)
        args[n++] = AIRY_CL_LOCAL(shape->memory);
    args[n++] = to == AIRY_DTYPE_F32 ? AIRY_CL_VALUE(narrow) : AIRY_CL_VALUE(wide);
    args[n++] = AIRY_CL_VALUE(pass->geom);
    const airy_filter_geom *g = &pass->geom;
    const double bytes = (double)pass->images *
                         ((double)(g->n[0] * g->n[1] * g->n[2]) * (double)airy_dtype_size(from) +
                          (double)(g->out[0] * g->out[1] * g->out[2]) * (double)elem);
    const size_t local[3] = {shape->group, 1, 1},
                 global[3] = {groups[0] * shape->group, groups[1], groups[2]};
    return airy_cl_launch(pass->queue, &spec, 3, global, local, bytes, args, n);
}

airy_status airy_convolve_launch(struct airy_convolve_pass *pass,
                                 const struct airy_convolve_shape *shape, size_t groups)
{
    return airy_convolve_launch_box(pass, shape, (const size_t[3]){groups, 1, 1});
}

airy_status airy_cl_convolve_check(const airy_queue *queue, const struct airy_convolve_plan *plan)
{
    const airy_device_info *info = &queue->device->info;
    AIRY_FAIL_HINT_IF(
        !info->fp64 && (plan->dst->dtype == AIRY_DTYPE_F64 || plan->src->dtype == AIRY_DTYPE_F64),
        AIRY_ERR_UNSUPPORTED, AIRY_HINT_CPU_OR_FLOAT32, AIRY_SUBJECT_DEVICE,
        "device '%s' has no double precision", info->spec);
    AIRY_FAIL_HINT_IF(
        info->max_group < 64, AIRY_ERR_UNSUPPORTED, AIRY_HINT_CPU, AIRY_SUBJECT_DEVICE,
        "device '%s' takes work-groups of %u items, filters need 64", info->spec, info->max_group);
    return AIRY_OK;
}

/* Convolution (kernels/convolve.cl). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "filter/filter_fns.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_launch.h"
#include "opencl/cl_move.h"
#include "shared/filter_geom.h"

enum { LOCAL_REST = 64 /* what a driver may add to local memory */ };

/* Where a pass reads or writes; steps in elements: image, z, y. */
struct place {
    struct airy_cl_arg buffer;
    airy_dtype dtype;
    uint64_t offset;
    size_t step[3];
};

struct pass {
    airy_queue *queue;
    struct place src, dst;
    airy_filter_geom geom;
    size_t images;
    double outside;    /* what stands for elements that are not there */
    size_t weights_at; /* of the weights' buffer, in elements */
    bool add;
};

static struct place place_of(const airy_array *array, const struct airy_filter_geometry *g)
{
    struct place p = {
        .buffer = AIRY_CL_ARRAY(array), .dtype = array->dtype, .offset = airy_cl_offset(array)};
    airy_filter_steps(p.step, array, g);
    return p;
}

/* A tight array of n[0] x n[1] x n[2] for each image in scratch. */
static airy_status place_scratch(struct place *p, airy_queue *queue, enum airy_scratch slot,
                                 airy_dtype dtype, size_t images, const size_t n[3])
{
    airy_buffer *buffer;
    size_t size = airy_dtype_size(dtype);
    bool large = airy_mul_size(&size, size, images);
    for (int i = 0; i < 3; i++)
        large = large || airy_mul_size(&size, size, n[i]);
    AIRY_FAIL_IF(large, AIRY_ERR_MEMORY,
                 "%zu images of %zu x %zu x %zu do not fit the address space", images, n[0], n[1],
                 n[2]);
    AIRY_TRY(airy_queue_scratch(queue, slot, size, &buffer));
    *p = (struct place){.buffer = AIRY_CL_BUFFER(buffer),
                        .dtype = dtype,
                        .step = {n[0] * n[1] * n[2], n[1] * n[2], n[2]}};
    return AIRY_OK;
}

static void fill_geom(struct pass *pass, const struct airy_filter_axis axis[3], airy_border border)
{
    airy_filter_geom *g = &pass->geom;
    g->src_offset = (int64_t)pass->src.offset;
    g->dst_offset = (int64_t)pass->dst.offset;
    for (int i = 0; i < 3; i++) {
        g->src_step[i] = (int64_t)pass->src.step[i];
        g->dst_step[i] = (int64_t)pass->dst.step[i];
        g->n[i] = (int64_t)axis[i].n;
        g->out[i] = (int64_t)axis[i].out;
        g->offset[i] = axis[i].offset;
        g->taps[i] = (uint32_t)axis[i].taps;
    }
    g->border = (uint32_t)border;
    g->add = pass->add;
}

/*
 * Weights on the device, in the dtype of the result. They are copied before this returns, and the
 * queue's order keeps a launch before the next push.
 */
static airy_status push_weights(airy_queue *queue, airy_buffer **buffer, airy_dtype dtype,
                                const double *weights, size_t n)
{
    const size_t elem = airy_dtype_size(dtype);
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, n, elem, "weights"));
    for (size_t i = 0; i < n; i++) {
        if (dtype == AIRY_DTYPE_F32)
            ((float *)block)[i] = (float)weights[i];
        else
            ((double *)block)[i] = weights[i];
    }
    airy_status status = airy_queue_scratch(queue, AIRY_SCRATCH_SMALL, n * elem, buffer);
    if (status == AIRY_OK) {
        const airy_array bytes = {.buffer = *buffer,
                                  .dtype = AIRY_DTYPE_U8,
                                  .ndim = 1,
                                  .shape = {n * elem},
                                  .pitch = {1}};
        status = airy_cl_push(queue, &bytes, block, false);
    }
    free(block);
    return status;
}

static airy_status launch(const struct pass *pass, const char *kernel, const airy_buffer *weights,
                          size_t local_size, const size_t *global, const size_t *local)
{
    char options[48];
    snprintf(options, sizeof(options), "-DT=%s -DW=%s", airy_cl_types[pass->src.dtype].name,
             airy_cl_types[pass->dst.dtype].name);
    const struct airy_cl_kernel_spec spec = {"convolve.cl", kernel, options};
    const double wide = pass->outside;
    const float narrow = (float)pass->outside;
    struct airy_cl_arg args[6];
    size_t n = 0;
    args[n++] = pass->src.buffer;
    args[n++] = AIRY_CL_BUFFER(weights);
    args[n++] = pass->dst.buffer;
    if (local_size)
        args[n++] = AIRY_CL_LOCAL(local_size);
    args[n++] = pass->dst.dtype == AIRY_DTYPE_F32 ? AIRY_CL_VALUE(narrow) : AIRY_CL_VALUE(wide);
    args[n++] = AIRY_CL_VALUE(pass->geom);
    const airy_filter_geom *g = &pass->geom;
    const double bytes =
        (double)pass->images *
        ((double)(g->n[0] * g->n[1] * g->n[2]) * (double)airy_dtype_size(pass->src.dtype) +
         (double)(g->out[0] * g->out[1] * g->out[2]) * (double)airy_dtype_size(pass->dst.dtype));
    return airy_cl_launch(pass->queue, &spec, 3, global, local, bytes, args, n);
}

static airy_status check_device(const airy_queue *queue, const struct airy_convolve_plan *plan)
{
    const airy_device_info *info = &queue->device->info;
    AIRY_FAIL_IF(
        !info->fp64 && (plan->dst->dtype == AIRY_DTYPE_F64 || plan->src->dtype == AIRY_DTYPE_F64),
        AIRY_ERR_UNSUPPORTED,
        "device '%s' has no double precision; use float32 arrays or --device cpu", info->spec);
    AIRY_FAIL_IF(info->max_group < AIRY_FILTER_LINE, AIRY_ERR_UNSUPPORTED,
                 "device '%s' takes work-groups of %u items, filters need %u; use --device cpu",
                 info->spec, info->max_group, AIRY_FILTER_LINE);
    return AIRY_OK;
}

static airy_status direct(airy_queue *queue, const struct airy_convolve_plan *plan)
{
    const struct airy_filter_geometry *g = &plan->geometry;
    const struct airy_filter_axis *a = g->axis;
    struct pass pass = {.queue = queue,
                        .src = place_of(plan->src, g),
                        .dst = place_of(plan->dst, g),
                        .images = g->images,
                        .outside = g->border_value};
    airy_buffer *weights;
    AIRY_TRY(check_device(queue, plan));
    fill_geom(&pass, a, g->border);
    AIRY_TRY(push_weights(queue, &weights, plan->dst->dtype, plan->kernel,
                          a[0].taps * a[1].taps * a[2].taps));
    const size_t width = AIRY_FILTER_X + a[2].taps - 1,
                 height = AIRY_FILTER_Y * AIRY_FILTER_EACH + a[1].taps - 1,
                 size = width * height * airy_dtype_size(plan->dst->dtype);
    const size_t rows = (a[1].out + AIRY_FILTER_EACH - 1) / AIRY_FILTER_EACH;
    if (size + LOCAL_REST > queue->device->info.local_mem) {
        const size_t global[3] = {a[2].out, a[1].out, a[0].out * g->images}, local[3] = {64, 1, 1};
        return launch(&pass, "convolve_far", weights, 0, global, local);
    }
    pass.geom.tile_width = (uint32_t)width;
    pass.geom.tile_height = (uint32_t)height;
    const size_t global[3] = {a[2].out, rows, a[0].out * g->images},
                 local[3] = {AIRY_FILTER_X, AIRY_FILTER_Y, 1};
    return launch(&pass, "convolve_direct", weights, size, global, local);
}

/* One axis of a product, from src to dst; the other axes pass as they are. */
static airy_status run_axis(struct pass *pass, int axis, const struct airy_filter_axis now[3],
                            airy_border border, const double *line)
{
    airy_buffer *weights;
    struct airy_filter_axis axes[3];
    for (int i = 0; i < 3; i++)
        axes[i] = i == axis ? now[i] : (struct airy_filter_axis){now[i].n, now[i].n, 1, 0};
    fill_geom(pass, axes, border);
    pass->geom.axis = (uint32_t)axis;
    AIRY_TRY(push_weights(pass->queue, &weights, pass->dst.dtype, line, now[axis].taps));
    if (axis == 2) {
        const size_t each = AIRY_FILTER_LINE * AIRY_FILTER_LINE_EACH,
                     size = (each + axes[2].taps - 1) * airy_dtype_size(pass->dst.dtype);
        const size_t global[3] = {(axes[2].out + each - 1) / each * AIRY_FILTER_LINE, axes[1].out,
                                  axes[0].out * pass->images},
                     local[3] = {AIRY_FILTER_LINE, 1, 1};
        return launch(pass, "convolve_x", weights, size, global, local);
    }
    const size_t runs = (axes[axis].out + AIRY_FILTER_RUN - 1) / AIRY_FILTER_RUN;
    const size_t global[3] = {axes[2].out, axis == 1 ? runs : axes[1].out,
                              (axis == 1 ? axes[0].out : runs) * pass->images},
                 local[3] = {64, 1, 1};
    return launch(pass, "convolve_run", weights, 0, global, local);
}

static double sum_of(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return sum;
}

/*
 * One product: x, then y, then z, each from what the one before has left. The last one writes, or
 * adds to, dst; two pieces of scratch take turns before it.
 */
static airy_status run_product(airy_queue *queue, const struct airy_convolve_plan *plan, int r)
{
    const struct airy_filter_geometry *g = &plan->geometry;
    struct airy_filter_axis now[3];
    struct pass pass = {.queue = queue,
                        .src = place_of(plan->src, g),
                        .images = g->images,
                        .outside = g->border_value};
    static const enum airy_scratch slots[2] = {AIRY_SCRATCH_FRAMES, AIRY_SCRATCH_PARTIALS};
    int last = 2;
    memcpy(now, g->axis, sizeof(now));
    for (int axis = 1; axis >= 0; axis--)
        if (now[axis].taps > 1)
            last = axis;
    double factor = 1; /* of axes that are left out */
    for (int axis = 0; axis < 2; axis++)
        factor *= now[axis].taps == 1 ? plan->line[r][axis][0] : 1;
    for (int axis = 2, turn = 0; axis >= last; axis--) {
        if (axis < 2 && now[axis].taps == 1)
            continue;
        void *block;
        AIRY_TRY(airy_memory_calloc(&block, now[axis].taps, sizeof(double), "weights"));
        double *line = block;
        for (size_t i = 0; i < now[axis].taps; i++)
            line[i] = plan->line[r][axis][i] * (axis == 2 ? factor : 1);
        const size_t n[3] = {axis == 0 ? now[0].out : now[0].n, axis == 1 ? now[1].out : now[1].n,
                             axis == 2 ? now[2].out : now[2].n};
        airy_status status = AIRY_OK;
        pass.add = axis == last && r > 0;
        if (axis == last)
            pass.dst = place_of(plan->dst, g);
        else
            status =
                place_scratch(&pass.dst, queue, slots[turn++ % 2], plan->dst->dtype, g->images, n);
        if (status == AIRY_OK)
            status = run_axis(&pass, axis, now, g->border, line);
        pass.outside *= sum_of(line, now[axis].taps);
        free(block);
        AIRY_TRY(status);
        pass.src = pass.dst;
        now[axis] = (struct airy_filter_axis){now[axis].out, now[axis].out, 1, 0};
    }
    return AIRY_OK;
}

static airy_status separable(airy_queue *queue, const struct airy_convolve_plan *plan)
{
    AIRY_TRY(check_device(queue, plan));
    for (int r = 0; r < plan->rank; r++)
        AIRY_TRY(run_product(queue, plan, r));
    return AIRY_OK;
}

const struct airy_filter_fns airy_filter_opencl = {.direct = direct, .separable = separable};

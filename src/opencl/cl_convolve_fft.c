/* Convolution by transforms of tiles (kernels/convolve_fft.cl). */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "fft/fft_table.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_convolve.h"
#include "opencl/cl_launch.h"
#include "opencl/cl_move.h"
#include "shared/transform_geom.h"

enum {
    LEAST = 16,
    GROUP = 256,              /* items, at most */
    MOST = 1 << 22,           /* elements of a tile */
    COLUMNS = 16,             /* of a group, beside each other */
    LOCAL_REST = 64,          /* what a driver may add to local memory */
    SCRATCH_BYTES = 48 << 20, /* of tiles in scratch */
};

enum way { FORWARD, MULTIPLY, BACK };

struct job {
    airy_queue *queue;
    const struct airy_convolve_plan *plan;
    const struct airy_convolve_tiles *tiles;
    airy_transform_geom geom;
    size_t elem, tile;   /* bytes of an element of the arithmetic; elements of a tile */
    double limit, scale; /* of elements, so that no sum overflows; 1 over a transform's elements */
    double bytes;        /* of the source and the result */
    struct airy_cl_arg spectrum, scratch, bad, factor;
};

/* Lines of n that a group takes. */
static size_t lines_of(const airy_queue *queue, size_t n, size_t elem)
{
    const airy_device_info *info = &queue->device->info;
    const size_t items = n / AIRY_TRANSFORM_EACH, room = AIRY_TRANSFORM_ROOM(n) * elem,
                 fit = (info->local_mem - LOCAL_REST) / room,
                 group = airy_min_size(GROUP, info->max_group);
    size_t lines = 1;
    while (2 * lines <= fit && 2 * lines * items <= group)
        lines *= 2;
    return items <= group && fit ? lines : 0;
}

/*
 * Estimated, not measured: tiles are read and written five times, mostly in a second-level cache, for
 * about 20 ps an element on a device on which a product of the direct method takes 0.04 ps. Twice
 * that stands here, so that auto takes transforms only where they cannot well be slower. The start is
 * six launches.
 */
double airy_cl_fft_work(const airy_queue *queue, struct airy_convolve_plan *plan)
{
    const size_t elem = airy_dtype_size(plan->dst->dtype);
    struct airy_transform_cost cost = {.least = LEAST,
                                       .longest = AIRY_FFT_MAX,
                                       .most = MOST,
                                       .rows = 1,
                                       .width = 64,
                                       .element = {500, 1000, 1600},
                                       .start = 15,
                                       .cached = (size_t)SCRATCH_BYTES / (2 * elem),
                                       .beyond = 0.25};
    while (cost.longest > cost.least && !lines_of(queue, cost.longest, elem))
        cost.longest /= 2;
    return airy_convolve_cut(&plan->tiles, &plan->geometry, &cost);
}

static void fill_geom(struct job *job)
{
    const struct airy_convolve_plan *plan = job->plan;
    const struct airy_filter_geometry *g = &plan->geometry;
    airy_transform_geom *geom = &job->geom;
    size_t src_step[3], dst_step[3];
    airy_filter_steps(src_step, plan->src, g);
    airy_filter_steps(dst_step, plan->dst, g);
    geom->src_offset = (int64_t)airy_cl_offset(plan->src);
    geom->dst_offset = (int64_t)airy_cl_offset(plan->dst);
    geom->border = (uint32_t)g->border;
    for (int i = 0; i < 3; i++) {
        geom->src_step[i] = (int64_t)src_step[i];
        geom->dst_step[i] = (int64_t)dst_step[i];
        geom->n[i] = (int64_t)g->axis[i].n;
        geom->out[i] = (int64_t)g->axis[i].out;
        geom->offset[i] = g->axis[i].offset;
        geom->taps[i] = (uint32_t)g->axis[i].taps;
        geom->length[i] = (uint32_t)job->tiles->length[i];
        geom->block[i] = (uint32_t)job->tiles->block[i];
        geom->blocks[i] = (uint32_t)job->tiles->blocks[i];
    }
}

static airy_status start_job(struct job *job)
{
    const struct airy_convolve_plan *plan = job->plan;
    const struct airy_convolve_tiles *t = job->tiles;
    size_t count = plan->geometry.images, taps = 1;
    double sum = 1;
    bool large = false;
    job->elem = airy_dtype_size(plan->dst->dtype);
    job->tile = 1;
    job->scale = 1;
    job->bytes = (double)airy_array_size(plan->src) + (double)airy_array_size(plan->dst);
    for (int i = 0; i < 3; i++) {
        large = large || airy_mul_size(&count, count, t->blocks[i]);
        taps *= plan->geometry.axis[i].taps;
        job->tile *= t->length[i];
        job->scale /= t->turned[i] ? (double)t->length[i] : 1;
        job->geom.factors =
            (uint32_t)airy_max_size(job->geom.factors, t->turned[i] ? t->length[i] : LEAST);
    }
    /* Rows of tiles are numbered with 32 bits. */
    AIRY_FAIL_IF(large || count > INT32_MAX || count * (t->length[0] * t->length[1]) > INT32_MAX,
                 AIRY_ERR_UNSUPPORTED, "%zu tiles of %zu rows, expected at most %d rows", count,
                 t->length[0] * t->length[1], INT32_MAX);
    fill_geom(job);
    job->geom.tiles = (uint32_t)count;
    for (size_t i = 0; i < taps; i++)
        sum += fabs(plan->kernel[i]);
    job->limit = (plan->dst->dtype == AIRY_DTYPE_F32 ? (double)FLT_MAX : DBL_MAX) /
                 (8 * (double)job->tile * sum);
    return AIRY_OK;
}

static airy_array bytes_of(airy_buffer *buffer, airy_dtype dtype, size_t n)
{
    return (airy_array){.buffer = buffer, .dtype = dtype, .ndim = 1, .shape = {n}, .pitch = {1}};
}

/* Factors and weights on the device; copied before this returns. */
static airy_status push_table(struct job *job)
{
    const struct airy_filter_axis *a = job->plan->geometry.axis;
    const size_t taps = a[0].taps * a[1].taps * a[2].taps, circle = 2 * job->geom.factors,
                 n = circle + taps;
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, n, sizeof(double), "factors"));
    double *wide = block;
    airy_fft_circle(wide, job->geom.factors);
    memcpy(wide + circle, job->plan->kernel, taps * sizeof(double));
    for (size_t i = 0; i < n && job->elem == sizeof(float); i++) {
        const float narrow = (float)wide[i];
        memcpy((char *)block + i * sizeof(float), &narrow, sizeof(narrow));
    }
    airy_buffer *buffer;
    airy_status status = airy_queue_scratch(job->queue, AIRY_SCRATCH_SMALL, n * job->elem, &buffer);
    if (status == AIRY_OK) {
        const airy_array bytes = bytes_of(buffer, AIRY_DTYPE_U8, n * job->elem);
        job->factor = AIRY_CL_BUFFER(buffer);
        status = airy_cl_push(job->queue, &bytes, block, false);
    }
    free(block);
    return status;
}

/* Scratch for the kernel's transform, for some pairs of tiles, and for what is wrong with tiles. */
static airy_status take_scratch(struct job *job)
{
    const size_t pairs = ((size_t)job->geom.tiles + 1) / 2, size = 2 * job->elem * job->tile,
                 fit = airy_max_size(SCRATCH_BYTES / size, 1);
    const uint32_t zero = 0;
    airy_buffer *buffer;
    job->geom.pairs = (uint32_t)airy_min_size(pairs, job->tiles->lines ? pairs : fit);
    AIRY_TRY(airy_queue_scratch(job->queue, AIRY_SCRATCH_PARTIALS, size, &buffer));
    job->spectrum = job->scratch = AIRY_CL_BUFFER(buffer);
    if (!job->tiles->lines) {
        AIRY_TRY(
            airy_queue_scratch(job->queue, AIRY_SCRATCH_FRAMES, job->geom.pairs * size, &buffer));
        job->scratch = AIRY_CL_BUFFER(buffer);
    }
    AIRY_TRY(airy_queue_scratch(job->queue, AIRY_SCRATCH_BLOCKS, job->geom.tiles * sizeof(uint32_t),
                                &buffer));
    job->bad = AIRY_CL_BUFFER(buffer);
    const airy_array flags = bytes_of(buffer, AIRY_DTYPE_U32, job->geom.tiles);
    return airy_cl_fill(job->queue, &flags, &zero);
}

/* A kernel over lines of n; global: groups in each dimension. */
static airy_status launch(const struct job *job, const char *kernel, size_t n, size_t lines,
                          enum way way, const size_t groups[3], struct airy_cl_arg *args,
                          size_t count)
{
    char options[160];
    const char *type = airy_cl_types[job->plan->dst->dtype].name;
    snprintf(options, sizeof(options),
             "-DT=%s -DW=%s -DW2=%s2 -DN=%zu -DLINES=%zu -DTURN=%d -DWAY=%d",
             airy_cl_types[job->plan->src->dtype].name, type, type, n, lines,
             (int)job->tiles->turned[2], (int)way);
    const struct airy_cl_kernel_spec spec = {"convolve_fft.cl", kernel, options};
    const size_t group = lines * (n / AIRY_TRANSFORM_EACH), local[3] = {group, 1, 1},
                 global[3] = {groups[0] * group, groups[1], groups[2]};
    args[count++] = AIRY_CL_VALUE(job->geom);
    return airy_cl_launch(job->queue, &spec, 3, global, local, job->bytes, args, count);
}

/* A number as an argument in the dtype of the arithmetic. */
struct number {
    float narrow;
    double wide;
};
#define NUMBER(v) ((struct number){.narrow = (float)(v), .wide = (v)})
#define NUMBER_ARG(job, v)                                                                         \
    ((job)->elem == sizeof(float) ? AIRY_CL_VALUE((v).narrow) : AIRY_CL_VALUE((v).wide))

static struct airy_cl_arg room_of(const struct job *job, size_t n, size_t lines)
{
    return AIRY_CL_LOCAL(lines * AIRY_TRANSFORM_ROOM(n) * job->elem);
}

/* One of the kernels over rows, all rows of the launch's pairs. */
static airy_status run_rows(const struct job *job, const char *kernel,
                            const struct airy_cl_arg *buffers, size_t count,
                            const struct number *numbers, size_t number_count)
{
    const size_t n = job->tiles->length[2], lines = lines_of(job->queue, n, job->elem),
                 rows = job->geom.pairs * job->tiles->length[0] * job->tiles->length[1];
    const size_t groups[3] = {(rows + lines - 1) / lines, 1, 1};
    struct airy_cl_arg args[10];
    memcpy(args, buffers, count * sizeof(*args));
    args[count++] = room_of(job, n, lines);
    for (size_t i = 0; i < number_count; i++)
        args[count++] = NUMBER_ARG(job, numbers[i]);
    return launch(job, kernel, n, lines, FORWARD, groups, args, count);
}

/* A pass over the columns of tiles along y (1) or z (0). */
static airy_status run_columns(struct job *job, struct airy_cl_arg tiles, int axis, enum way way)
{
    const size_t *length = job->tiles->length, n = length[axis],
                 lines = airy_min_size(airy_min_size(COLUMNS, length[2]),
                                       lines_of(job->queue, n, job->elem));
    const size_t groups[3] = {length[2] / lines, length[1 - axis], job->geom.pairs};
    struct airy_cl_arg args[5] = {tiles, job->spectrum, job->factor, room_of(job, n, lines)};
    job->geom.axis = (uint32_t)axis;
    return launch(job, "convolve_fft_columns", n, lines, way, groups, args, 4);
}

static airy_status make_spectrum(struct job *job)
{
    const struct number scale = NUMBER(job->scale);
    const struct airy_cl_arg buffers[] = {job->spectrum, job->factor};
    struct job one = *job;
    one.geom.pairs = 1;
    one.geom.first = 0;
    AIRY_TRY(run_rows(&one, "convolve_fft_kernel", buffers, 2, &scale, 1));
    for (int axis = 1; axis >= 0; axis--)
        if (job->tiles->turned[axis])
            AIRY_TRY(run_columns(&one, job->spectrum, axis, FORWARD));
    return AIRY_OK;
}

/* y there, z there and back times the kernel, y back, as far as these are transformed. */
static airy_status run_inner(struct job *job)
{
    const bool *turned = job->tiles->turned;
    if (!turned[0])
        return run_columns(job, job->scratch, 1, MULTIPLY);
    if (turned[1])
        AIRY_TRY(run_columns(job, job->scratch, 1, FORWARD));
    AIRY_TRY(run_columns(job, job->scratch, 0, MULTIPLY));
    return turned[1] ? run_columns(job, job->scratch, 1, BACK) : AIRY_OK;
}

static airy_status run_pairs(struct job *job)
{
    const struct number numbers[2] = {NUMBER(job->plan->geometry.border_value), NUMBER(job->limit)};
    const struct airy_cl_arg src = AIRY_CL_ARRAY(job->plan->src),
                             dst = AIRY_CL_ARRAY(job->plan->dst);
    if (job->tiles->lines) {
        const struct airy_cl_arg buffers[] = {src, job->spectrum, dst, job->bad, job->factor};
        return run_rows(job, "convolve_fft_line", buffers, 5, numbers, 2);
    }
    const struct airy_cl_arg there[] = {src, job->scratch, job->bad, job->factor},
                             back[] = {src, job->scratch, dst, job->bad, job->factor};
    AIRY_TRY(run_rows(job, "convolve_fft_load", there, 4, numbers, 2));
    AIRY_TRY(run_inner(job));
    return run_rows(job, "convolve_fft_store", back, 5, numbers, 1);
}

airy_status airy_cl_fft(airy_queue *queue, const struct airy_convolve_plan *plan)
{
    struct job job = {.queue = queue, .plan = plan, .tiles = &plan->tiles};
    AIRY_TRY(airy_cl_convolve_check(queue, plan));
    AIRY_TRY(start_job(&job));
    AIRY_TRY(push_table(&job));
    AIRY_TRY(take_scratch(&job));
    AIRY_TRY(make_spectrum(&job));
    const uint32_t pairs = (job.geom.tiles + 1) / 2, each = job.geom.pairs;
    for (job.geom.first = 0; job.geom.first < pairs; job.geom.first += each) {
        job.geom.pairs = each < pairs - job.geom.first ? each : pairs - job.geom.first;
        AIRY_TRY(run_pairs(&job));
    }
    return AIRY_OK;
}

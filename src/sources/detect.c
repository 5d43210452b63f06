/*
 * From an image to planes on the host: values, which pixels count, filtered values, islands. The
 * operations are those of the other families, on the queue's device.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/element.h"
#include "airy/filter.h"
#include "airy/label.h"
#include "airy/reduce.h"
#include "base/error.h"
#include "base/memory.h"
#include "core/backend.h"
#include "sources/sources_parts.h"

struct job {
    airy_queue *queue;
    const struct airy_source_plan *plan;
    struct airy_detection *to;
    airy_array *value, *good, *filtered, *noise, *spare, *found, *label;
};

static airy_status add_array(struct job *job, airy_array **array, airy_dtype dtype)
{
    struct airy_detection *d = job->to;
    const size_t shape[2] = {job->plan->height, job->plan->width};
    AIRY_TRY(airy_array_create_uninitialized(array, job->queue->device, dtype, 2, shape));
    d->arrays[d->array_count++] = *array;
    return AIRY_OK;
}

/* good = good and found. */
static airy_status keep_found(const struct job *job)
{
    return airy_combine(job->queue, job->good, job->good, AIRY_AND, job->found);
}

static airy_status mark_good(const struct job *job, const airy_array *value,
                             const airy_array *noise)
{
    const airy_sources_params *p = &job->plan->p;
    airy_queue *q = job->queue;
    AIRY_TRY(airy_apply(q, job->good, AIRY_IS_FINITE, value));
    if (p->mask) {
        AIRY_TRY(airy_combine_value(q, job->found, p->mask, AIRY_EQUAL, 0));
        AIRY_TRY(keep_found(job));
    }
    if (!noise)
        return AIRY_OK;
    AIRY_TRY(airy_combine_value(q, job->found, noise, AIRY_GREATER, 0));
    AIRY_TRY(keep_found(job));
    AIRY_TRY(airy_apply(q, job->found, AIRY_IS_FINITE, noise));
    return keep_found(job);
}

/* As f32: the array itself, or `room` with its elements. */
static airy_status as_f32(const struct job *job, const airy_array **array, airy_array *room)
{
    if (airy_array_dtype(*array) == AIRY_DTYPE_F32)
        return AIRY_OK;
    AIRY_TRY(airy_convert(job->queue, room, *array, AIRY_CONVERT_SATURATE, 1, 0));
    *array = room;
    return AIRY_OK;
}

static airy_status prepare(struct job *job, const airy_array *image)
{
    const struct airy_source_plan *plan = job->plan;
    airy_queue *q = job->queue;
    AIRY_TRY(add_array(job, &job->value, AIRY_DTYPE_F32));
    AIRY_TRY(add_array(job, &job->good, AIRY_DTYPE_U8));
    AIRY_TRY(add_array(job, &job->found, AIRY_DTYPE_U8));
    AIRY_TRY(add_array(job, &job->label, AIRY_DTYPE_U32));
    /* Labels come last: until then their memory is spare. */
    AIRY_TRY(airy_array_view_as(&job->spare, job->label, 0, AIRY_DTYPE_F32, 2, job->label->shape));
    job->to->arrays[job->to->array_count++] = job->spare;
    job->filtered = job->value;
    if (plan->kernel)
        AIRY_TRY(add_array(job, &job->filtered, AIRY_DTYPE_F32));
    const airy_array *value = image, *noise = plan->p.noise_map;
    AIRY_TRY(as_f32(job, &value, job->value));
    if (noise) {
        AIRY_TRY(add_array(job, &job->noise, AIRY_DTYPE_F32));
        AIRY_TRY(as_f32(job, &noise, job->noise));
    }
    AIRY_TRY(mark_good(job, value, noise));
    AIRY_TRY(airy_array_fill(q, job->spare, 0));
    AIRY_TRY(airy_where(q, job->value, job->good, value, job->spare));
    return noise ? airy_where(q, job->noise, job->good, noise, job->spare) : AIRY_OK;
}

/* dst = correlation of src with the kernel, or with its square. */
static airy_status correlate(const struct job *job, airy_array *dst, const airy_array *src,
                             bool squared)
{
    const airy_convolve_params params = {.mode = AIRY_CONVOLVE_SAME, .correlate = true};
    const size_t *shape = job->plan->p.kernel_shape, n = shape[0] * shape[1];
    if (!squared)
        return airy_convolve(job->queue, dst, src, job->plan->kernel, 2, shape, &params, NULL);
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, n, sizeof(double), "a kernel"));
    double *square = block;
    for (size_t i = 0; i < n; i++)
        square[i] = job->plan->kernel[i] * job->plan->kernel[i];
    const airy_status status = airy_convolve(job->queue, dst, src, square, 2, shape, &params, NULL);
    free(square);
    return status;
}

/* weight = (scale / s)^2, 0 where a pixel is left out. */
static airy_status make_weights(struct job *job, airy_array *weight, airy_array *ones,
                                double *scale)
{
    airy_queue *q = job->queue;
    airy_statistics noise;
    *scale = job->plan->p.noise;
    if (!job->noise)
        return airy_convert(q, weight, job->good, AIRY_CONVERT_SATURATE, 1, 0);
    /* Weights of a map of any unit stay within f32. */
    AIRY_TRY(airy_statistics_get(q, &noise, job->noise, NULL, AIRY_STATISTICS_MOMENTS));
    *scale = noise.max > 0 ? noise.max : 1;
    AIRY_TRY(airy_array_fill(q, ones, *scale));
    AIRY_TRY(airy_combine(q, weight, ones, AIRY_DIVIDE, job->noise));
    AIRY_TRY(airy_apply(q, weight, AIRY_SQUARE, weight));
    return airy_where(q, weight, job->good, weight, job->spare); /* spare is 0 still */
}

/* found = sum k f / s^2 > sigma root(sum k^2 / s^2): nowhere where there is no pixel that counts. */
static airy_status match(struct job *job)
{
    airy_queue *q = job->queue;
    airy_array *weight, *weighted;
    double scale;
    AIRY_TRY(add_array(job, &weight, AIRY_DTYPE_F32));
    AIRY_TRY(add_array(job, &weighted, AIRY_DTYPE_F32));
    AIRY_TRY(make_weights(job, weight, weighted, &scale));
    AIRY_TRY(airy_combine(q, weighted, job->value, AIRY_MULTIPLY, weight));
    AIRY_TRY(correlate(job, job->spare, weight, true));
    AIRY_TRY(airy_apply(q, job->spare, AIRY_SQRT, job->spare));
    AIRY_TRY(correlate(job, weight, weighted, false));
    AIRY_TRY(airy_combine(q, weight, weight, AIRY_DIVIDE, job->spare));
    return airy_combine_value(q, job->found, weight, AIRY_GREATER, job->plan->p.sigma * scale);
}

static airy_status label(struct job *job)
{
    const struct airy_source_plan *plan = job->plan;
    airy_queue *q = job->queue;
    airy_label_params params = {.connectivity = plan->p.connectivity,
                                .min_count = plan->p.min_area};
    size_t *count = &job->to->islands;
    /* Without a filter pixels that are left out are 0. */
    if (!plan->kernel && !plan->varies && plan->threshold >= 0) {
        params.has_above = true;
        params.above = (double)plan->threshold;
        return airy_label(q, job->label, job->value, &params, count, NULL);
    }
    if (plan->p.matched) {
        AIRY_TRY(match(job));
    } else if (plan->varies) {
        AIRY_TRY(airy_combine_value(q, job->spare, job->noise, AIRY_MULTIPLY, plan->p.sigma));
        AIRY_TRY(airy_combine(q, job->found, job->filtered, AIRY_GREATER, job->spare));
    } else {
        AIRY_TRY(airy_combine_value(q, job->found, job->filtered, AIRY_GREATER,
                                    (double)plan->threshold));
    }
    AIRY_TRY(airy_combine(q, job->found, job->found, AIRY_AND, job->good));
    return airy_label(q, job->label, job->found, &params, count, NULL);
}

/* Host memory with the elements of an array. */
static airy_status find_plane(struct job *job, void **plane, const airy_array *array)
{
    struct airy_detection *d = job->to;
    if (!array || airy_queue_backend(job->queue)->in_place) {
        *plane = array ? airy_array_address(array) : NULL;
        return AIRY_OK;
    }
    AIRY_TRY(airy_memory_alloc(plane, airy_array_size(array)));
    d->copies[d->copy_count++] = *plane;
    return airy_array_pull(job->queue, *plane, airy_array_size(array), array);
}

static airy_status find_planes(struct job *job)
{
    struct airy_source_planes *to = &job->to->planes;
    const airy_array *background = job->plan->p.background;
    void *plane[6];
    if (background &&
        !(airy_array_dtype(background) == AIRY_DTYPE_F32 && airy_array_is_tight(background))) {
        airy_array *tight;
        AIRY_TRY(add_array(job, &tight, AIRY_DTYPE_F32));
        AIRY_TRY(airy_convert(job->queue, tight, background, AIRY_CONVERT_SATURATE, 1, 0));
        background = tight;
    }
    AIRY_TRY(airy_queue_finish(job->queue));
    AIRY_TRY(find_plane(job, &plane[0], job->value));
    plane[1] = plane[0];
    if (job->filtered != job->value)
        AIRY_TRY(find_plane(job, &plane[1], job->filtered));
    AIRY_TRY(find_plane(job, &plane[2], job->good));
    AIRY_TRY(find_plane(job, &plane[3], job->noise));
    AIRY_TRY(find_plane(job, &plane[4], background));
    AIRY_TRY(find_plane(job, &plane[5], job->label));
    *to = (struct airy_source_planes){.width = job->plan->width,
                                      .height = job->plan->height,
                                      .value = plane[0],
                                      .filtered = plane[1],
                                      .good = plane[2],
                                      .noise = plane[3],
                                      .background = plane[4],
                                      .uniform_noise = (float)job->plan->p.noise,
                                      .label = plane[5]};
    return AIRY_OK;
}

static airy_status run(struct job *job, const airy_array *image)
{
    AIRY_TRY(prepare(job, image));
    if (job->plan->kernel)
        AIRY_TRY(correlate(job, job->filtered, job->value, false));
    AIRY_TRY(label(job));
    return find_planes(job);
}

airy_status airy_detect(airy_queue *queue, struct airy_detection *detection,
                        const airy_array *image, const struct airy_source_plan *plan)
{
    struct job job = {.queue = queue, .plan = plan, .to = detection};
    *detection = (struct airy_detection){.islands = 0};
    const airy_status status = run(&job, image);
    if (status != AIRY_OK)
        airy_detection_free(detection);
    return status;
}

void airy_detection_free(struct airy_detection *detection)
{
    for (int i = 0; i < detection->array_count; i++)
        airy_array_destroy(&detection->arrays[i]);
    for (int i = 0; i < detection->copy_count; i++)
        airy_memory_release(detection->copies[i]);
    *detection = (struct airy_detection){.islands = 0};
}

/* Sigma clipping and the quantile filter on the CPU: from frames to bins. */
#include "cpu/cpu_rings.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "core/objects.h"

/* Arrays of doubles of a task: raw, s, omega, c, v; quantile: x and g of three lists, three of at. */
enum { CLIP_ARRAYS = 5, ARRAYS = 11, PLACES = 3 };

/* Those of the task, and as many of uint32_t. */
static size_t arrays_of(const airy_integrator *integrator, size_t *places)
{
    const bool quantile = integrator->ring.kind == AIRY_RING_QUANTILE;
    *places = quantile ? PLACES : 1;
    /* x and g hold weights while bad entries are left out. */
    return quantile ? ARRAYS : CLIP_ARRAYS + 2;
}

static size_t array_size(const struct airy_cpu_rings *rings)
{
    return airy_align_up((rings->most + AIRY_RING_LANES) * sizeof(double), 64);
}

static size_t gone_size(const airy_integrator *integrator)
{
    const airy_ring_rule *rule = &integrator->ring;
    return rule->compat && rule->kind == AIRY_RING_CLIP
               ? airy_align_up((integrator->pixels + 63) / 64 * sizeof(uint64_t), 64)
               : 0;
}

airy_status airy_integrate_rings_take(struct airy_integrate_job *job, airy_queue *queue)
{
    airy_buffer *buffer = NULL;
    const size_t array = array_size(job->matrix->rings);
    size_t places;
    const size_t arrays = arrays_of(job->integrator, &places);
    job->ring_size = arrays * array + places * array + gone_size(job->integrator);
    job->ring_size = airy_align_up(job->ring_size, 4096);
    AIRY_TRY(airy_queue_thread_scratch(queue, AIRY_SCRATCH_SMALL, job->ring_size,
                                       &job->ring_threads, &buffer));
    job->ring = buffer->handle;
    return AIRY_OK;
}

static void start_task(struct airy_ring_task *task, const struct airy_integrate_job *job,
                       size_t frame, unsigned worker)
{
    const bool is_float = airy_dtype_is_float(job->dtype);
    const size_t array = array_size(job->matrix->rings);
    uint8_t *at = job->ring + worker * job->ring_size;
    double *arrays[ARRAYS] = {NULL};
    uint32_t *place[PLACES] = {NULL};
    size_t places;
    const size_t count = arrays_of(job->integrator, &places);
    for (size_t k = 0; k < count; k++)
        arrays[k] = (double *)(at + k * array);
    for (size_t k = 0; k < places; k++)
        place[k] = (uint32_t *)(at + (count + k) * array);
    *task = (struct airy_ring_task){.job = job,
                                    .rings = job->matrix->rings,
                                    .kernels = airy_ring_kernels(),
                                    .frame = frame,
                                    .bad_lo = is_float ? job->rules.float_lo : INFINITY,
                                    .bad_hi = is_float ? job->rules.float_hi : -INFINITY,
                                    .ring = {.raw = arrays[0],
                                             .s = arrays[1],
                                             .omega = arrays[2],
                                             .c = arrays[3],
                                             .v = arrays[4]},
                                    .pixel = place[0],
                                    .all = {.x = arrays[5], .g = arrays[6]},
                                    .list = {{.x = arrays[7], .g = arrays[8], .at = place[1]},
                                             {.x = arrays[9], .g = arrays[10], .at = place[2]}}};
    if (gone_size(job->integrator) > 0)
        task->gone = (uint64_t *)(at + (count + places) * array);
    if (!is_float && job->rules.has_interval) {
        const int64_t lo = airy_dtype_is_signed(job->dtype) ? (int64_t)(int32_t)job->rules.lo
                                                            : (int64_t)job->rules.lo;
        task->bad_lo = (double)lo;
        task->bad_hi = (double)(lo + (int64_t)job->rules.span);
    }
}

static bool is_gone(const struct airy_ring_task *task, size_t pixel)
{
    return task->gone && (task->gone[pixel / 64] >> pixel % 64 & 1);
}

/* Entries [first, last) that are good to weight[], factor[] and pixel[], which are as raw is. */
struct parts {
    const float *weight, *factor;
    const uint32_t *pixel;
};

/* Compact the bin's entries to those whose value is good; their weights go to x and g. */
static void pick_good(struct airy_ring_task *task, struct parts *parts)
{
    struct airy_ring_bin *ring = &task->ring;
    float *weight = (float *)task->all.x, *factor = (float *)task->all.g;
    size_t n = 0;
    for (size_t i = 0; i < ring->count; i++) {
        const double raw = ring->raw[i];
        const bool good = isfinite(raw) && !(raw >= task->bad_lo && raw <= task->bad_hi) &&
                          !is_gone(task, parts->pixel[i]) && parts->weight[i] != 0.0f &&
                          parts->factor[i] != 0.0f;
        ring->raw[n] = raw;
        weight[n] = parts->weight[i];
        factor[n] = parts->factor[i];
        task->pixel[n] = parts->pixel[i];
        n += good;
    }
    ring->count = n;
    *parts = (struct parts){weight, factor, task->pixel};
}

static void make_variances(struct airy_ring_task *task, const struct parts *parts)
{
    const airy_integrator *it = task->job->integrator;
    struct airy_ring_bin *ring = &task->ring;
    for (size_t i = 0; i < ring->count; i++) {
        const double w = (double)parts->weight[i];
        const double v = it->variance       ? (double)it->variance[parts->pixel[i]]
                         : ring->raw[i] > 1 ? ring->raw[i]
                                            : 1.0;
        ring->v[i] = w * w * v;
    }
}

/* The entries of a bin that take part in this frame. */
static void gather_bin(struct airy_ring_task *task, size_t bin)
{
    const struct airy_integrate_job *job = task->job;
    const airy_integrator *it = job->integrator;
    const struct airy_matrix *m = &it->matrix;
    struct airy_ring_bin *ring = &task->ring;
    const size_t first = m->row[bin];
    struct parts parts = {task->rings->weight + first, task->rings->factor + first,
                          m->pixel + first};
    ring->count = m->row[bin + 1] - first;
    task->kernels->gather[job->dtype](
        ring->raw, job->pixels + (job->wave_first + task->frame) * it->pixels * job->elem_size,
        parts.pixel, ring->count);
    if (task->gone || task->rings->zeros ||
        (job->stats[job->wave_first + task->frame].invalid != 0 &&
         task->kernels->any_bad(ring->raw, ring->count, task->bad_lo, task->bad_hi)))
        pick_good(task, &parts);
    if (it->ring.leaves == AIRY_RING_POISSON || it->ring.leaves == AIRY_RING_GIVEN)
        make_variances(task, &parts);
    for (size_t i = 0; i < ring->count && it->dark; i++)
        ring->raw[i] -= (double)it->dark[parts.pixel[i]];
    task->kernels->terms(ring, parts.weight, parts.factor, it->params.unweighted);
    const float *c = it->params.unweighted ? parts.factor : parts.weight;
    for (size_t i = 0; i < ring->count && !task->rings->ones; i++)
        ring->c[i] = (double)c[i];
    /* No comparison holds for what lies behind the last one. */
    for (size_t i = 0; i < AIRY_RING_LANES; i++) {
        ring->s[ring->count + i] = NAN;
        ring->omega[ring->count + i] = ring->c[ring->count + i] = ring->v[ring->count + i] = 0.0;
    }
}

static void do_bin(struct airy_ring_task *task, size_t bin)
{
    const struct airy_integrate_job *job = task->job;
    const airy_integrator *it = job->integrator;
    double *out = job->sums + (job->wave_first + task->frame) * AIRY_SUM_PLANES * it->bins + bin;
    for (size_t plane = 0; plane < AIRY_SUM_PLANES; plane++)
        out[plane * it->bins] = 0.0;
    if (job->stats[job->wave_first + task->frame].status != AIRY_STATUS_GOOD)
        return;
    gather_bin(task, bin);
    if (task->ring.count == 0)
        return;
    if (it->ring.kind == AIRY_RING_QUANTILE)
        airy_rings_quantile(task, airy_integrator_ring_scale(it, bin), out, it->bins);
    else if (it->ring.compat)
        airy_rings_clip_compat(task, out, it->bins);
    else
        airy_rings_clip(task, out, it->bins);
}

/* A run of bins of one frame; frames of the wave follow each other, so that the matrix stays near. */
static void do_chunk(void *arg, size_t index, unsigned worker)
{
    const struct airy_integrate_job *job = arg;
    const struct airy_cpu_rings *rings = job->matrix->rings;
    const size_t chunk = index / job->wave_frames;
    struct airy_ring_task task;
    start_task(&task, job, index % job->wave_frames, worker);
    for (size_t b = rings->chunk[chunk]; b < rings->chunk[chunk + 1]; b++)
        do_bin(&task, b);
}

/* All bins of one frame, in ascending order: what one rejects is gone for those after it. */
static void do_frame(void *arg, size_t index, unsigned worker)
{
    const struct airy_integrate_job *job = arg;
    struct airy_ring_task task;
    start_task(&task, job, index, worker);
    memset(task.gone, 0, (job->integrator->pixels + 63) / 64 * sizeof(*task.gone));
    for (size_t b = 0; b < job->integrator->bins; b++)
        do_bin(&task, b);
}

void airy_integrate_rings_wave(struct airy_integrate_job *job)
{
    const airy_integrator *it = job->integrator;
    const double bytes = (double)(job->wave_frames * it->pixels * job->elem_size);
    const bool whole = gone_size(it) > 0;
    assert(job->pixels);
    airy_profile_loop_few(
        it->device, it->ring.kind == AIRY_RING_CLIP ? "integrate_clip" : "integrate_quantile",
        bytes, job->ring_threads, job->wave_frames * (whole ? 1 : job->matrix->rings->chunks),
        whole ? do_frame : do_chunk, job);
}

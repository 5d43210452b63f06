/* Sigma clipping and the quantile filter on the CPU: from frames to bins. */
#include "cpu/cpu_rings.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "core/objects.h"

/*
 * Arrays of a task that have a number for each entry of the fullest bin: raw, v, the weights of
 * those that are good, their pixels; then s, omega, c and v of the tail (clip), or x, g and at of
 * three lists.
 */
enum { ALWAYS = 4, CLIP = 4, QUANTILE = 8, ARRAYS = ALWAYS + QUANTILE };

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
    const airy_ring_rule *rule = &job->integrator->ring;
    const size_t more = rule->kind == AIRY_RING_QUANTILE ? QUANTILE : CLIP;
    job->ring_size = (ALWAYS + more) * array + gone_size(job->integrator);
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
    const airy_integrator *it = job->integrator;
    void *arrays[ARRAYS];
    for (size_t k = 0; k < ARRAYS; k++)
        arrays[k] = at + k * array;
    *task = (struct airy_ring_task){.job = job,
                                    .rings = job->matrix->rings,
                                    .kernels = airy_ring_kernels(),
                                    .frame = frame,
                                    .bad_lo = is_float ? job->rules.float_lo : INFINITY,
                                    .bad_hi = is_float ? job->rules.float_hi : -INFINITY,
                                    .ring = {.raw = arrays[0],
                                             .v = arrays[1],
                                             .weights = it->params.unweighted ? AIRY_RING_UNWEIGHTED
                                                        : job->matrix->rings->ones
                                                            ? AIRY_RING_ONES
                                                            : AIRY_RING_WEIGHTED},
                                    .weight = arrays[2],
                                    .pixel = arrays[3]};
    task->factor = task->weight + array / sizeof(double);
    if (it->ring.kind == AIRY_RING_QUANTILE) {
        task->all = (struct airy_ring_list){.x = arrays[4], .g = arrays[5]};
        for (size_t k = 0; k < 2; k++)
            task->list[k] = (struct airy_ring_list){
                .x = arrays[6 + 3 * k], .g = arrays[7 + 3 * k], .at = arrays[8 + 3 * k]};
    } else {
        task->tail = (struct airy_ring_bin){.weights = AIRY_RING_TERMS,
                                            .raw = arrays[4],
                                            .s = arrays[4],
                                            .omega = arrays[5],
                                            .c = arrays[6],
                                            .v = arrays[7]};
        if (it->ring.compat)
            task->gone = (uint64_t *)(at + (ALWAYS + CLIP) * array);
    }
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

/* Compact the bin's entries to those whose value is good. */
static const uint32_t *pick_good(struct airy_ring_task *task, const uint32_t *pixel)
{
    struct airy_ring_bin *ring = &task->ring;
    size_t n = 0;
    for (size_t i = 0; i < ring->count; i++) {
        const double raw = ring->raw[i];
        const float weight = ring->weight[i], factor = ring->factor[i];
        const bool good = isfinite(raw) && !(raw >= task->bad_lo && raw <= task->bad_hi) &&
                          !is_gone(task, pixel[i]) && weight != 0.0f && factor != 0.0f;
        ring->raw[n] = raw;
        task->weight[n] = weight;
        task->factor[n] = factor;
        task->pixel[n] = pixel[i];
        n += good;
    }
    memset(task->weight + n, 0, AIRY_RING_LANES * sizeof(*task->weight));
    memset(task->factor + n, 0, AIRY_RING_LANES * sizeof(*task->factor));
    ring->count = n;
    ring->weight = task->weight;
    ring->factor = task->factor;
    return task->pixel;
}

/* Terms of the variance that are not made from raw values on the way. */
static void make_variances(struct airy_ring_task *task, const uint32_t *pixel)
{
    const airy_integrator *it = task->job->integrator;
    struct airy_ring_bin *ring = &task->ring;
    for (size_t i = 0; i < ring->count; i++) {
        const double w = (double)ring->weight[i];
        const double v = it->variance       ? (double)it->variance[pixel[i]]
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
    const size_t first = m->row[bin], frame = job->wave_first + task->frame;
    const uint32_t *pixel = m->pixel + first;
    ring->count = m->row[bin + 1] - first;
    ring->weight = task->rings->weight + first;
    ring->factor = task->rings->factor + first;
    task->kernels->gather[job->dtype](ring->raw, job->pixels + frame * it->pixels * job->elem_size,
                                      pixel, ring->count);
    if (task->gone || task->rings->zeros ||
        (job->stats[frame].invalid != 0 &&
         task->kernels->any_bad(ring->raw, ring->count, task->bad_lo, task->bad_hi)))
        pixel = pick_good(task, pixel);
    if (it->ring.leaves == AIRY_RING_GIVEN ||
        (it->ring.leaves == AIRY_RING_POISSON && (it->dark || task->gone)))
        make_variances(task, pixel);
    for (size_t i = 0; i < ring->count && it->dark; i++)
        ring->raw[i] -= (double)it->dark[pixel[i]];
    for (size_t i = 0; i < AIRY_RING_LANES; i++) {
        ring->raw[ring->count + i] = NAN;
        ring->v[ring->count + i] = 0.0;
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

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/size.h"
#include "codec/codec_fns.h"
#include "core/backend.h"
#include "core/objects.h"
#include "integrate/integrate_fns.h"

static airy_status run_frames(airy_queue *queue, const struct airy_integrate_plan *plan)
{
    const struct airy_integrate_fns *fns = airy_queue_backend(queue)->integrate;
    return plan->integrator->ring.kind == AIRY_RING_NONE ? fns->integrate(queue, plan)
                                                         : fns->rings(queue, plan);
}

static airy_status check_output(const airy_queue *queue, const airy_array *array, const char *name,
                                airy_dtype dtype, int ndim, const size_t *shape)
{
    char text[96];
    AIRY_TRY(airy_check_device(queue, array, name));
    AIRY_FAIL_ON_IF(array->dtype != dtype, AIRY_ERR_DTYPE, AIRY_SUBJECT_PARAMETER,
                    "%s is %s, expected %s", name, airy_array_describe(array, text),
                    airy_dtype_name(dtype));
    bool fits = array->ndim == ndim;
    for (int k = 0; fits && k < ndim; k++)
        fits = array->shape[k] == shape[k];
    char last[32] = "";
    if (ndim == 3)
        snprintf(last, sizeof(last), ", %zu", shape[2]);
    AIRY_FAIL_ON_IF(!fits || !airy_array_is_tight(array), AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s is %s, expected [%zu, %zu%s] without gaps", name,
                    airy_array_describe(array, text), shape[0], shape[1], last);
    return AIRY_OK;
}

static airy_status check_apart(const airy_array *a, const char *a_name, const airy_array *b,
                               const char *b_name)
{
    AIRY_FAIL_IF(airy_array_overlaps(a, b), AIRY_ERR_PARAM, "%s and %s overlap", a_name, b_name);
    return AIRY_OK;
}

static airy_status check_results(airy_queue *queue, const airy_array *sums, const airy_array *stats,
                                 const airy_integrator *integrator, size_t frames)
{
    AIRY_FAIL_IF(integrator->device != airy_queue_device(queue), AIRY_ERR_DEVICE,
                 "integrator belongs to device '%s', the queue to '%s'",
                 integrator->device->info.spec, airy_queue_device(queue)->info.spec);
    const size_t sums_shape[3] = {frames, AIRY_SUM_PLANES, integrator->bins};
    const size_t stats_shape[2] = {frames, sizeof(airy_frame_stats)};
    AIRY_TRY(check_output(queue, sums, "sums", AIRY_DTYPE_F64, 3, sums_shape));
    AIRY_TRY(check_output(queue, stats, "stats", AIRY_DTYPE_U8, 2, stats_shape));
    return check_apart(sums, "sums", stats, "stats");
}

airy_status airy_integrate(airy_queue *queue, airy_array *sums, airy_array *stats,
                           const airy_integrator *integrator, const airy_array *frames)
{
    AIRY_FAIL_IF(!queue, AIRY_ERR_PARAM, "airy_integrate: queue is NULL");
    AIRY_FAIL_IF(!sums, AIRY_ERR_PARAM, "airy_integrate: sums is NULL");
    AIRY_FAIL_IF(!stats, AIRY_ERR_PARAM, "airy_integrate: stats is NULL");
    AIRY_FAIL_IF(!integrator, AIRY_ERR_PARAM, "airy_integrate: integrator is NULL");
    AIRY_FAIL_IF(!frames, AIRY_ERR_PARAM, "airy_integrate: frames is NULL");
    char text[96];
    AIRY_TRY(airy_check_device(queue, frames, "frames"));
    AIRY_FAIL_IF(frames->ndim != 3 || frames->shape[1] != integrator->height ||
                     frames->shape[2] != integrator->width,
                 AIRY_ERR_SHAPE, "frames is %s, expected [n, %zu, %zu] as the detector '%s' has",
                 airy_array_describe(frames, text), integrator->height, integrator->width,
                 integrator->geometry.detector.name);
    AIRY_FAIL_IF(!airy_array_is_tight(frames), AIRY_ERR_SHAPE,
                 "frames is %s with gaps, expected none", airy_array_describe(frames, text));
    AIRY_TRY(check_results(queue, sums, stats, integrator, frames->shape[0]));
    AIRY_TRY(check_apart(sums, "sums", frames, "frames"));
    AIRY_TRY(check_apart(stats, "stats", frames, "frames"));
    struct airy_integrate_plan plan = {
        .integrator = integrator, .sums = sums, .stats = stats, .frames = frames};
    AIRY_TRY(airy_pixel_test_make(&plan.test, integrator, frames->dtype));
    return run_frames(queue, &plan);
}

/* Decoded frames and their status words share one piece of scratch: status first. */
static airy_status decode_then_integrate(airy_queue *queue, struct airy_integrate_plan *plan)
{
    const struct airy_backend *backend = airy_queue_backend(queue);
    const struct airy_chunks *chunks = &plan->chunks;
    AIRY_FAIL_IF(!backend->codec || !backend->codec->decode, AIRY_ERR_UNSUPPORTED,
                 "back end '%s' does not implement decode", backend->name);
    const size_t status_size = airy_align_up(chunks->frames * sizeof(uint32_t), 4096);
    size_t size = 0;
    const bool overflow =
        airy_mul_size(&size, chunks->frames, (size_t)chunks->layout.frame_bytes) ||
        airy_add_size(&size, size, status_size);
    AIRY_FAIL_IF(overflow, AIRY_ERR_MEMORY, "%zu frames of %llu bytes do not fit the address space",
                 chunks->frames, (unsigned long long)chunks->layout.frame_bytes);
    airy_buffer *scratch = NULL;
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_FRAMES, size, &scratch));
    const struct airy_array status = {.buffer = scratch,
                                      .dtype = AIRY_DTYPE_U32,
                                      .ndim = 1,
                                      .shape = {chunks->frames},
                                      .pitch = {1}};
    const struct airy_array frames = {.buffer = scratch,
                                      .offset = status_size,
                                      .dtype = chunks->dtype,
                                      .ndim = 3,
                                      .shape = {chunks->frames, chunks->height, chunks->width},
                                      .pitch = {chunks->height * chunks->width, chunks->width, 1}};
    const struct airy_decode_plan decode = {
        .chunks = *chunks, .frames = &frames, .status = &status};
    AIRY_TRY(backend->codec->decode(queue, &decode));
    plan->frames = &frames;
    plan->status = &status;
    return run_frames(queue, plan);
}

airy_status airy_integrate_chunks(airy_queue *queue, airy_array *sums, airy_array *stats,
                                  const airy_integrator *integrator,
                                  const struct airy_chunks *chunks, bool lean)
{
    AIRY_FAIL_IF(chunks->height != integrator->height || chunks->width != integrator->width,
                 AIRY_ERR_SHAPE,
                 "frames of the batch have %zu x %zu pixels, the detector '%s' has %zu x %zu",
                 chunks->height, chunks->width, integrator->geometry.detector.name,
                 integrator->height, integrator->width);
    AIRY_TRY(check_results(queue, sums, stats, integrator, chunks->frames));
    struct airy_integrate_plan plan = {
        .integrator = integrator, .sums = sums, .stats = stats, .chunks = *chunks, .lean = lean};
    AIRY_TRY(airy_pixel_test_make(&plan.test, integrator, chunks->dtype));
    const struct airy_integrate_fns *fns = airy_queue_backend(queue)->integrate;
    if (fns->integrate_chunks && (!fns->takes_chunks || fns->takes_chunks(&plan)))
        return fns->integrate_chunks(queue, &plan);
    return decode_then_integrate(queue, &plan);
}

airy_status airy_integrate_batch(airy_queue *queue, airy_array *sums, airy_array *stats,
                                 const airy_integrator *integrator, airy_batch *batch)
{
    AIRY_FAIL_IF(!queue, AIRY_ERR_PARAM, "airy_integrate_batch: queue is NULL");
    AIRY_FAIL_IF(!sums, AIRY_ERR_PARAM, "airy_integrate_batch: sums is NULL");
    AIRY_FAIL_IF(!stats, AIRY_ERR_PARAM, "airy_integrate_batch: stats is NULL");
    AIRY_FAIL_IF(!integrator, AIRY_ERR_PARAM, "airy_integrate_batch: integrator is NULL");
    AIRY_FAIL_IF(!batch, AIRY_ERR_PARAM, "airy_integrate_batch: batch is NULL");
    struct airy_chunks chunks;
    AIRY_TRY(check_results(queue, sums, stats, integrator, airy_batch_frames(batch)));
    AIRY_TRY(airy_batch_upload(queue, batch, &chunks));
    return airy_integrate_chunks(queue, sums, stats, integrator, &chunks, false);
}

enum { PIECE = 8192 };

static void divide_piece(void *arg, size_t index, unsigned worker)
{
    const struct airy_division *d = arg;
    const size_t lo = index * PIECE, hi = airy_min_size(lo + PIECE, d->bins);
    const double *norm = d->norms, *norm2 = norm + d->bins, *count = norm2 + d->bins;
    const float empty = d->empty;
    (void)worker;
    /* Each division is done for empty bins, too: a select is what vectors have. */
    for (size_t b = lo; b < hi; b++) {
        const float mean = (float)(d->signal[b] / norm[b]);
        d->intensity[b] = count[b] > 0 ? mean : empty;
    }
    for (size_t b = lo; d->std && b < hi; b++) {
        const float std = (float)sqrt(d->variance[b] / norm2[b]);
        d->std[b] = count[b] > 0 ? std : empty;
    }
    for (size_t b = lo; d->sem && b < hi; b++) {
        const float sem = (float)(sqrt(d->variance[b]) / norm[b]);
        d->sem[b] = count[b] > 0 ? sem : empty;
    }
}

void airy_divide(struct airy_division d, airy_pool *pool)
{
    const size_t pieces = (d.bins + PIECE - 1) / PIECE;
    d.std = d.variance ? d.std : NULL;
    d.sem = d.variance ? d.sem : NULL;
    airy_pool_run(pieces > 1 ? pool : NULL, pieces, divide_piece, &d);
}

airy_status airy_integrator_finish(const airy_integrator *integrator, double *sums,
                                   double normalization, float *intensity, float *std, float *sem)
{
    AIRY_FAIL_IF(!integrator, AIRY_ERR_PARAM, "airy_integrator_finish: integrator is NULL");
    AIRY_FAIL_IF(!sums, AIRY_ERR_PARAM, "airy_integrator_finish: sums is NULL");
    AIRY_FAIL_IF(!intensity, AIRY_ERR_PARAM, "airy_integrator_finish: intensity is NULL");
    AIRY_FAIL_IF(!isfinite(normalization) || normalization == 0, AIRY_ERR_PARAM,
                 "normalization of the frame = %g, expected a finite value other than 0",
                 normalization);
    const size_t n = integrator->bins;
    double *norms = sums + AIRY_SUM_NORMALIZATION * n;
    for (size_t b = 0; normalization != 1 && b < n; b++) {
        norms[b] *= normalization;
        norms[n + b] = norms[n + b] * normalization * normalization;
    }
    airy_divide((struct airy_division){.signal = sums + AIRY_SUM_SIGNAL * n,
                                       .variance = sums + AIRY_SUM_VARIANCE * n,
                                       .norms = norms,
                                       .intensity = intensity,
                                       .std = std,
                                       .sem = sem,
                                       .bins = n,
                                       .empty = (float)integrator->params.empty},
                integrator->device->pool);
    return AIRY_OK;
}

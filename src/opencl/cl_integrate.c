/* The integrator's matrix on the device. */
#include "opencl/cl_integrate.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "opencl/cl_buffer.h"
#include "shared/gather_geom.h"

/*
 * Data stays where it is until the queue is finished. It is copied as if it were page-locked, by the
 * driver's own way: to lock memory in between costs more than it gains for tables.
 */
airy_status airy_cl_upload_begin(airy_buffer **buffer, airy_queue *queue, const void *data,
                                 size_t size, const char *what)
{
    AIRY_TRY(airy_buffer_create(buffer, queue->device, size ? size : 4, what));
    if (size == 0)
        return AIRY_OK;
    const airy_array bytes = airy_cl_bytes_of(*buffer, size);
    return airy_cl_push(queue, &bytes, data, true);
}

airy_status airy_cl_upload(airy_buffer **buffer, airy_queue *queue, const void *data, size_t size,
                           const char *what)
{
    AIRY_TRY(airy_cl_upload_begin(buffer, queue, data, size, what));
    return airy_queue_finish(queue);
}

/*
 * The matrix by bin, for the recurrence alone. Two integrators never share a matrix, and the lock
 * of the state is held.
 */
static airy_status upload_by_bin(struct airy_cl_gather *gather, airy_queue *queue,
                                 const airy_integrator *integrator)
{
    static const char what[] = "the matrix by bin";
    struct airy_matrix m = integrator->matrix;
    float *values = NULL;
    airy_status status;
    AIRY_TRY(airy_matrix_by_bin(&m, integrator->device->pool));
    AIRY_TRY_OR(out, airy_memory_alloc((void **)&values, m.entries * sizeof(*values)));
    AIRY_TRY_OR(out, airy_cl_upload(&gather->bin_pixel, queue, m.pixel,
                                    m.entries * sizeof(*m.pixel), what));
    AIRY_TRY_OR(
        out, airy_cl_upload(&gather->bin_row, queue, m.row, (m.bins + 1) * sizeof(*m.row), what));
    for (size_t e = 0; e < m.entries; e++)
        values[e] = integrator->weight[m.entry[e]];
    AIRY_TRY_OR(
        out, airy_cl_upload(&gather->bin_weight, queue, values, m.entries * sizeof(*values), what));
    for (size_t e = 0; e < m.entries; e++)
        values[e] = m.coef[m.entry[e]];
    if (integrator->weight != m.coef)
        AIRY_TRY_OR(out, airy_cl_upload(&gather->bin_coef, queue, values,
                                        m.entries * sizeof(*values), what));
out:
    airy_memory_release(values);
    if (!integrator->matrix.row) {
        free(m.row);
        airy_memory_release(m.pixel);
        airy_memory_release(m.entry);
    }
    return status;
}

static airy_status upload_base(struct airy_cl_gather *gather, airy_queue *queue,
                               const airy_integrator *integrator)
{
    const double *const sums[] = {integrator->base_normalization, integrator->base_normalization2,
                                  integrator->base_count, integrator->base_dark,
                                  integrator->base_variance};
    const size_t bins = integrator->bins, planes = sizeof(sums) / sizeof(sums[0]);
    double *all;
    AIRY_TRY(airy_memory_calloc((void **)&all, planes * bins, sizeof(*all),
                                "the sums of the corrections"));
    for (size_t k = 0; k < planes; k++)
        for (size_t b = 0; b < bins; b++)
            all[k * bins + b] = sums[k][b];
    const airy_status status = airy_cl_upload(
        &gather->base, queue, all, planes * bins * sizeof(*all), "the sums of the corrections");
    free(all);
    AIRY_TRY(status);
    return airy_cl_upload(&gather->base_entries, queue, integrator->base_entries,
                          bins * sizeof(uint32_t), "the entries of bins");
}

static airy_status fill_gather(struct airy_cl_gather *gather, airy_queue *queue,
                               const airy_integrator *integrator)
{
    const airy_integrator_params *params = &integrator->params;
    AIRY_TRY(airy_cl_gather_table(gather, queue, integrator));
    if (integrator->variance)
        AIRY_TRY(airy_cl_upload(&gather->variance, queue, integrator->variance,
                                integrator->pixels * sizeof(float), "the variance"));
    if (params->error_model == AIRY_ERROR_MODEL_AZIMUTHAL && params->compat == AIRY_COMPAT_PYFAI)
        AIRY_TRY(upload_by_bin(gather, queue, integrator));
    AIRY_TRY(upload_base(gather, queue, integrator));
    return airy_queue_finish(queue);
}

/* The same where the host has no matrix yet: it has one, and corrections, as long as this takes. */
static airy_status fill_gather_of_split(struct airy_cl_gather *gather, airy_queue *queue,
                                        const airy_integrator *integrator)
{
    airy_integrator whole = *integrator;
    struct airy_corrections c;
    AIRY_TRY(airy_corrections_take(&c, integrator));
    whole.norm = c.norm;
    whole.dark = c.dark;
    whole.valid = c.valid;
    airy_status status = airy_integrator_matrix(&whole.matrix, &whole);
    whole.weight = whole.matrix.coef;
    if (status == AIRY_OK)
        status = fill_gather(gather, queue, &whole);
    airy_matrix_free(&whole.matrix);
    airy_corrections_release(&c);
    return status;
}

/* Every buffer of the gather engine, and with them those of the state. */
enum { GATHER_BUFFERS = 15, BUFFERS = GATHER_BUFFERS + 18 };

static void list_buffers(struct airy_cl_integrator *state, airy_buffer **list[BUFFERS])
{
    struct airy_cl_gather *gather = &state->gather;
    struct airy_cl_fused *fused = &state->fused;
    struct airy_cl_rings *rings = &state->rings;
    airy_buffer **const all[BUFFERS] = {
        &gather->units,      &gather->segments,  &gather->places,       &gather->weight,
        &gather->coef,       &gather->row,       &gather->slot_base,    &gather->valid,
        &gather->variance,   &gather->base,      &gather->base_entries, &gather->bin_pixel,
        &gather->bin_weight, &gather->bin_coef,  &gather->bin_row,      &state->norm,
        &state->dark,        &fused->table,      &fused->valid_words,   &fused->extra_start,
        &fused->extra,       &fused->base,       &fused->base_entries,  &fused->shift,
        &fused->parts,       &rings->large_bins, &rings->bins,          &rings->pixel,
        &rings->weight,      &rings->other,      &rings->dark,          &rings->variance,
        &rings->valid};
    for (size_t i = 0; i < BUFFERS; i++)
        list[i] = all[i];
}

airy_status airy_cl_gather_prepare(airy_queue *queue, const airy_integrator *integrator)
{
    struct airy_cl_integrator *state = integrator->state;
    airy_status status = AIRY_OK;
    pthread_mutex_lock(&state->lock);
    if (!state->gather.ready) {
        status = !integrator->matrix.start ? fill_gather_of_split(&state->gather, queue, integrator)
                                           : fill_gather(&state->gather, queue, integrator);
        state->gather.ready = status == AIRY_OK;
        airy_buffer **buffers[BUFFERS];
        list_buffers(state, buffers);
        for (size_t i = 0; i < GATHER_BUFFERS && status != AIRY_OK; i++)
            airy_buffer_release(buffers[i]);
    }
    pthread_mutex_unlock(&state->lock);
    return status;
}

static void release(airy_integrator *integrator)
{
    struct airy_cl_integrator *state = integrator->state;
    if (!state)
        return;
    airy_buffer **buffers[BUFFERS];
    list_buffers(state, buffers);
    for (size_t i = 0; i < BUFFERS; i++)
        airy_buffer_release(buffers[i]);
    airy_cl_split_free(&state->split);
    airy_queue_destroy(&state->queue);
    pthread_mutex_destroy(&state->lock);
    free(state);
    integrator->state = NULL;
}

/* On their way while the tables are made: they live as long as the integrator. */
airy_status airy_cl_upload_corrections(airy_integrator *integrator)
{
    struct airy_cl_integrator *state = integrator->state;
    const size_t image = integrator->pixels * sizeof(float);
    if (!state->norm)
        AIRY_TRY(airy_cl_upload_begin(&state->norm, state->queue, integrator->norm, image,
                                      "the corrections"));
    return integrator->has_dark && !state->dark
               ? airy_cl_upload_begin(&state->dark, state->queue, integrator->dark, image,
                                      "the dark image")
               : AIRY_OK;
}

airy_status airy_cl_integrator_begin(airy_integrator *integrator)
{
    struct airy_cl_integrator *state;
    AIRY_TRY(airy_memory_calloc((void **)&state, 1, sizeof(*state), "the integrator"));
    pthread_mutex_init(&state->lock, NULL);
    integrator->state = state;
    return airy_queue_create(&state->queue, integrator->device);
}

static airy_status check_device(const airy_device *device)
{
    AIRY_FAIL_IF(!device->info.fp64, AIRY_ERR_UNSUPPORTED,
                 "device '%s' has no double precision, which integration needs", device->info.spec);
    AIRY_FAIL_IF(device->info.max_group < AIRY_GATHER_GROUP, AIRY_ERR_UNSUPPORTED,
                 "device '%s' admits work-groups of %u items, integration needs %u",
                 device->info.spec, device->info.max_group, AIRY_GATHER_GROUP);
    return AIRY_OK;
}

/*
 * Compressed frames go through the fused engine where it takes the integrator: the gather engine's
 * tables, which are larger, wait until a frame needs them.
 */
static airy_status prepare(airy_integrator *integrator)
{
    AIRY_TRY(check_device(integrator->device));
    if (!integrator->state)
        AIRY_TRY(airy_cl_integrator_begin(integrator));
    AIRY_TRY(airy_cl_upload_corrections(integrator));
    const bool rings = integrator->ring.kind != AIRY_RING_NONE;
    struct airy_cl_integrator *state = integrator->state;
    airy_queue *queue = state->queue;
    if (rings)
        AIRY_TRY(airy_cl_rings_prepare(&state->rings, queue, integrator));
    else
        AIRY_TRY(airy_cl_fused_prepare(&state->fused, queue, integrator));
    if (!rings && state->fused.why)
        AIRY_TRY(airy_cl_gather_prepare(queue, integrator));
    AIRY_TRY(airy_queue_finish(queue));
    airy_cl_split_free(&state->split);
    airy_queue_destroy(&state->queue);
    airy_buffer **buffers[BUFFERS];
    list_buffers(state, buffers);
    for (size_t i = 0; i < BUFFERS; i++)
        integrator->state_bytes += *buffers[i] ? (*buffers[i])->size : 0;
    integrator->engine = rings ? "opencl: entries of each bin"
                         : state->fused.why
                             ? "opencl: by tile"
                             : "opencl: compressed blocks into local bins, else by tile";
    if (!rings && state->fused.why)
        airy_log(AIRY_LOG_INFO, "compressed frames are decoded before they are integrated: %s",
                 state->fused.why);
    return AIRY_OK;
}

static bool takes_chunks(const struct airy_integrate_plan *plan)
{
    const struct airy_cl_lanes lanes = airy_cl_fused_lanes(plan->integrator->device);
    return plan->integrator->ring.kind == AIRY_RING_NONE && airy_cl_fused_takes(plan, &lanes);
}

static airy_status integrate_chunks(airy_queue *queue, const struct airy_integrate_plan *plan)
{
    const struct airy_cl_lanes lanes = airy_cl_fused_lanes(queue->device);
    return airy_cl_fused_run(queue, plan, &lanes);
}

const struct airy_integrate_fns airy_integrate_opencl = {
    .split = airy_cl_split,
    .pull_corrections = airy_cl_pull_corrections,
    .prepare = prepare,
    .release = release,
    .integrate = airy_cl_gather,
    .rings = airy_cl_rings,
    .takes_chunks = takes_chunks,
    .integrate_chunks = integrate_chunks,
};

/* Uploading what the gather engine needs: the matrix, and the sums of the corrections. */
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_integrate.h"

/*
 * Upload the matrix by bin, for the recurrence alone. Two integrators never share a matrix, and the
 * lock of the state is held.
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

/*
 * Make a matrix and corrections on the host, where it has none yet, and free them after the upload.
 */
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

void airy_cl_list_buffers(struct airy_cl_integrator *state, airy_buffer **list[AIRY_CL_BUFFERS])
{
    struct airy_cl_gather *gather = &state->gather;
    struct airy_cl_fused *fused = &state->fused;
    struct airy_cl_rings *rings = &state->rings;
    airy_buffer **const all[AIRY_CL_BUFFERS] = {
        &gather->units,      &gather->segments,  &gather->places,       &gather->weight,
        &gather->coef,       &gather->row,       &gather->slot_base,    &gather->valid,
        &gather->variance,   &gather->base,      &gather->base_entries, &gather->bin_pixel,
        &gather->bin_weight, &gather->bin_coef,  &gather->bin_row,      &state->norm,
        &state->dark,        &fused->table,      &fused->valid_words,   &fused->extra_start,
        &fused->extra,       &fused->base,       &fused->base_entries,  &fused->shift,
        &fused->parts,       &rings->large_bins, &rings->bins,          &rings->pixel,
        &rings->weight,      &rings->other,      &rings->dark,          &rings->variance,
        &rings->valid};
    for (size_t i = 0; i < AIRY_CL_BUFFERS; i++)
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
        airy_buffer **buffers[AIRY_CL_BUFFERS];
        airy_cl_list_buffers(state, buffers);
        for (size_t i = 0; i < AIRY_CL_GATHER_BUFFERS && status != AIRY_OK; i++)
            airy_buffer_release(buffers[i]);
    }
    pthread_mutex_unlock(&state->lock);
    return status;
}

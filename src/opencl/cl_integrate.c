/* The integrator's matrix on the device. */
#include "opencl/cl_integrate.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "opencl/cl_buffer.h"
#include "shared/gather_geom.h"

airy_status airy_cl_upload(airy_buffer **buffer, airy_queue *queue, const void *data, size_t size,
                           const char *what)
{
    AIRY_TRY(airy_buffer_create(buffer, queue->device, size ? size : 4, what));
    if (size == 0)
        return AIRY_OK;
    const airy_array bytes = {
        .buffer = *buffer, .dtype = AIRY_DTYPE_U8, .ndim = 1, .shape = {size}, .pitch = {1}};
    return airy_cl_push(queue, &bytes, data, false);
}

/* Values of entries, in the order of the matrix by bin. */
static airy_status upload_by_bin(airy_buffer **buffer, airy_queue *queue,
                                 const struct airy_matrix *matrix, const float *values,
                                 const char *what)
{
    void *block;
    AIRY_TRY(airy_memory_alloc(&block, matrix->entries * sizeof(float)));
    float *by_bin = block;
    for (size_t e = 0; e < matrix->entries; e++)
        by_bin[e] = values[matrix->entry[e]];
    const airy_status status =
        airy_cl_upload(buffer, queue, by_bin, matrix->entries * sizeof(float), what);
    airy_memory_release(block);
    return status;
}

static airy_status upload_pieces(struct airy_cl_integrator *state, airy_queue *queue,
                                 const struct airy_matrix *matrix)
{
    airy_gather_piece *pieces = NULL;
    uint32_t *row = NULL;
    size_t count = 0;
    for (size_t b = 0; b < matrix->bins; b++)
        count += (matrix->row[b + 1] - matrix->row[b] + AIRY_GATHER_PIECE - 1) / AIRY_GATHER_PIECE;
    airy_status status;
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&pieces, count ? count : 1, sizeof(*pieces),
                                        "the pieces of rows"));
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&row, matrix->bins + 1, sizeof(*row),
                                        "the pieces of rows"));
    size_t at = 0;
    for (size_t b = 0; b < matrix->bins; b++) {
        for (uint32_t e = matrix->row[b]; e < matrix->row[b + 1]; e += AIRY_GATHER_PIECE) {
            const uint32_t left = matrix->row[b + 1] - e;
            pieces[at++] =
                (airy_gather_piece){.first = e,
                                    .count = left < AIRY_GATHER_PIECE ? left : AIRY_GATHER_PIECE,
                                    .bin = (uint32_t)b};
        }
        row[b + 1] = (uint32_t)at;
    }
    state->piece_count = count;
    AIRY_TRY_OR(out, airy_cl_upload(&state->pieces, queue, pieces, count * sizeof(*pieces),
                                    "the pieces of rows"));
    AIRY_TRY_OR(out, airy_cl_upload(&state->row, queue, row, (matrix->bins + 1) * sizeof(*row),
                                    "the pieces of rows"));
out:
    free(pieces);
    free(row);
    return status;
}

static airy_status upload_base(struct airy_cl_integrator *state, airy_queue *queue,
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
    airy_status status = airy_cl_upload(&state->base, queue, all, planes * bins * sizeof(*all),
                                        "the sums of the corrections");
    free(all);
    AIRY_TRY(status);
    return airy_cl_upload(&state->base_entries, queue, integrator->base_entries,
                          bins * sizeof(uint32_t), "the entries of bins");
}

/* In the order of the matrix by bin, as upload_pieces cuts it. */
static airy_status upload_piece_base(struct airy_cl_integrator *state, airy_queue *queue,
                                     const airy_integrator *integrator)
{
    const struct airy_matrix *m = &integrator->matrix;
    double *all = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&all, state->piece_count * AIRY_BASE_PLANES + 1,
                                sizeof(*all), "the sums of the corrections"));
    double *piece = all;
    for (size_t b = 0; b < m->bins; b++) {
        for (uint32_t k = m->row[b]; k < m->row[b + 1]; k++) {
            const bool last = k + 1 == m->row[b + 1] ||
                              (k + 1 - m->row[b]) % AIRY_GATHER_PIECE == 0;
            double terms[AIRY_BASE_PLANES];
            airy_base_terms(terms, integrator, m->pixel[k], m->entry[k]);
            for (size_t plane = 0; plane < AIRY_BASE_PLANES; plane++)
                piece[plane] += terms[plane];
            piece += last ? AIRY_BASE_PLANES : 0;
        }
    }
    const airy_status status = airy_cl_upload(&state->piece_base, queue, all,
                                              state->piece_count * AIRY_BASE_PLANES * sizeof(*all),
                                              "the sums of the corrections");
    free(all);
    return status;
}

static airy_status upload_all(struct airy_cl_integrator *state, airy_queue *queue,
                              airy_integrator *integrator)
{
    struct airy_matrix *matrix = &integrator->matrix;
    const size_t image = integrator->pixels * sizeof(float);
    AIRY_TRY(airy_matrix_by_bin(matrix, integrator->device->pool));
    AIRY_TRY(airy_cl_upload(&state->pixel, queue, matrix->pixel, matrix->entries * sizeof(uint32_t),
                            "the matrix"));
    AIRY_TRY(upload_by_bin(&state->weight, queue, matrix, integrator->weight, "the matrix"));
    if (integrator->weight != matrix->coef)
        AIRY_TRY(upload_by_bin(&state->coef, queue, matrix, matrix->coef, "the matrix"));
    AIRY_TRY(upload_pieces(state, queue, matrix));
    AIRY_TRY(airy_cl_upload(&state->norm, queue, integrator->norm, image, "the corrections"));
    if (integrator->dark)
        AIRY_TRY(airy_cl_upload(&state->dark, queue, integrator->dark, image, "the dark image"));
    if (integrator->variance)
        AIRY_TRY(
            airy_cl_upload(&state->variance, queue, integrator->variance, image, "the variance"));
    AIRY_TRY(
        airy_cl_upload(&state->valid, queue, integrator->valid, integrator->pixels, "the mask"));
    state->stat_pieces = (integrator->pixels + AIRY_STAT_PIECE - 1) / AIRY_STAT_PIECE;
    AIRY_TRY(upload_base(state, queue, integrator));
    AIRY_TRY(upload_piece_base(state, queue, integrator));
    return airy_queue_finish(queue);
}

/* Every buffer of the state. */
enum { BUFFERS = 19 };

static void list_buffers(struct airy_cl_integrator *state, airy_buffer **list[BUFFERS])
{
    struct airy_cl_fused *fused = &state->fused;
    airy_buffer **const all[BUFFERS] = {
        &state->pixel, &state->weight,       &state->coef,         &state->pieces,
        &state->row,   &state->norm,         &state->dark,         &state->variance,
        &state->valid, &state->base,         &state->base_entries, &state->piece_base,
        &fused->table, &fused->valid_words,  &fused->extra_start,  &fused->extra,
        &fused->base,  &fused->base_entries, &fused->shift};
    for (size_t i = 0; i < BUFFERS; i++)
        list[i] = all[i];
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
    free(state);
    integrator->state = NULL;
}

static airy_status prepare(airy_integrator *integrator)
{
    airy_device *device = integrator->device;
    AIRY_FAIL_IF(!device->info.fp64, AIRY_ERR_UNSUPPORTED,
                 "device '%s' has no double precision, which integration needs", device->info.spec);
    AIRY_FAIL_IF(device->info.max_group < AIRY_GATHER_GROUP, AIRY_ERR_UNSUPPORTED,
                 "device '%s' admits work-groups of %u items, integration needs %d",
                 device->info.spec, device->info.max_group, AIRY_GATHER_GROUP);
    struct airy_cl_integrator *state;
    airy_queue *queue = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&state, 1, sizeof(*state), "the integrator"));
    integrator->state = state;
    airy_status status;
    AIRY_TRY_OR(out, airy_queue_create(&queue, device));
    AIRY_TRY_OR(out, upload_all(state, queue, integrator));
    AIRY_TRY_OR(out, airy_cl_fused_prepare(&state->fused, queue, integrator));
    AIRY_TRY_OR(out, airy_queue_finish(queue));
    airy_buffer **buffers[BUFFERS];
    list_buffers(state, buffers);
    for (size_t i = 0; i < BUFFERS; i++)
        integrator->state_bytes += *buffers[i] ? (*buffers[i])->size : 0;
    integrator->engine = state->fused.why
                             ? "opencl: by bin"
                             : "opencl: compressed blocks into local bins, else by bin";
    if (state->fused.why)
        airy_log(AIRY_LOG_INFO, "compressed frames are decoded before they are integrated: %s",
                 state->fused.why);
out:
    airy_queue_destroy(&queue);
    return status;
}

static bool takes_chunks(const struct airy_integrate_plan *plan)
{
    const struct airy_cl_lanes lanes = airy_cl_lanes_of(plan->integrator->device);
    return airy_cl_fused_takes(plan, &lanes);
}

static airy_status integrate_chunks(airy_queue *queue, const struct airy_integrate_plan *plan)
{
    const struct airy_cl_lanes lanes = airy_cl_lanes_of(queue->device);
    return airy_cl_fused_run(queue, plan, &lanes);
}

const struct airy_integrate_fns airy_integrate_opencl = {
    .prepare = prepare,
    .release = release,
    .integrate = airy_cl_gather,
    .takes_chunks = takes_chunks,
    .integrate_chunks = integrate_chunks,
};

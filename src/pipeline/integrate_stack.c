#include "pipeline/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "integrate/integrate_fns.h"

static airy_status open_slot(struct airy_run *run, struct airy_slot *slot)
{
    airy_device *device = run->integrator->device;
    const size_t batch = run->plan.batch, bins = run->integrator->bins;
    AIRY_TRY(airy_memory_calloc((void **)&slot->fates, batch, sizeof(slot->fates[0]),
                                "frames of a slot"));
    AIRY_TRY(airy_memory_calloc((void **)&slot->sizes, batch, sizeof(slot->sizes[0]),
                                "frames of a slot"));
    const airy_batch_params params = {
        .dtype = run->info.dtype,
        .height = run->info.height,
        .width = run->info.width,
        .codec = run->info.codec,
        .frames = batch,
        .bytes = run->plan.batch_bytes,
    };
    AIRY_TRY(airy_batch_create(&slot->batch, device, &params));
    AIRY_TRY(airy_array_create(&slot->results, device, AIRY_DTYPE_U8, 1, &run->plan.result_bytes));
    const size_t sums_shape[3] = {batch, AIRY_SUM_PLANES, bins};
    const size_t stats_shape[2] = {batch, sizeof(airy_frame_stats)};
    AIRY_TRY(airy_array_view_as(&slot->sums, slot->results, 0, AIRY_DTYPE_F64, 3, sums_shape));
    AIRY_TRY(airy_array_view_as(&slot->stats, slot->results,
                                batch * AIRY_SUM_PLANES * bins * sizeof(double), AIRY_DTYPE_U8, 2,
                                stats_shape));
    AIRY_TRY(airy_host_create(&slot->host_results, device, run->plan.result_bytes));
    AIRY_TRY(airy_event_create(&slot->uploaded, device));
    AIRY_TRY(airy_event_create(&slot->computed, device));
    return airy_event_create(&slot->done, device);
}

static void close_slot(struct airy_run *run, struct airy_slot *slot)
{
    airy_event_destroy(&slot->uploaded);
    airy_event_destroy(&slot->computed);
    airy_event_destroy(&slot->done);
    airy_array_destroy(&slot->sums);
    airy_array_destroy(&slot->stats);
    airy_array_destroy(&slot->results);
    airy_host_destroy(&slot->host_results);
    airy_batch_destroy(&slot->batch);
    for (size_t i = 0; slot->fates && i < run->plan.batch; i++)
        free(slot->fates[i].pixels);
    free(slot->fates);
    free(slot->sizes);
    *slot = (struct airy_slot){0};
}

/* Frames that the readers had to decode: each by itself, over the row that the batch left empty. */
static airy_status submit_decoded(struct airy_run *run, struct airy_slot *slot)
{
    for (size_t i = 0; i < slot->frames; i++) {
        struct airy_frame_fate *fate = &slot->fates[i];
        if (!fate->pixels)
            continue;
        airy_array *frame = NULL, *sums = NULL, *stats = NULL;
        const size_t shape[3] = {1, run->info.height, run->info.width};
        const size_t start[3] = {i, 0, 0};
        airy_status status;
        AIRY_TRY_OR(out, airy_array_create_from(&frame, run->compute, run->info.dtype, 3, shape,
                                                fate->pixels));
        AIRY_TRY_OR(out,
                    airy_array_view(&sums, slot->sums, start,
                                    (const size_t[3]){1, AIRY_SUM_PLANES, run->integrator->bins}));
        AIRY_TRY_OR(out, airy_array_view(&stats, slot->stats, start,
                                         (const size_t[2]){1, sizeof(airy_frame_stats)}));
        AIRY_TRY_OR(out, airy_integrate(run->compute, sums, stats, run->integrator, frame));
        status = airy_queue_finish(run->compute); /* the frame's memory goes */
    out:
        airy_array_destroy(&sums);
        airy_array_destroy(&stats);
        airy_array_destroy(&frame);
        free(fate->pixels);
        fate->pixels = NULL;
        AIRY_TRY(status);
    }
    return AIRY_OK;
}

/* One copy up, the kernels, one copy down; on three queues tied by events, or one. */
static airy_status submit(struct airy_run *run, struct airy_slot *slot)
{
    struct airy_chunks chunks;
    const size_t origin[3] = {0, 0, 0};
    airy_array *sums = NULL, *stats = NULL;
    airy_status status;
    AIRY_TRY_OR(out, airy_array_view(
                         &sums, slot->sums, origin,
                         (const size_t[3]){slot->frames, AIRY_SUM_PLANES, run->integrator->bins}));
    AIRY_TRY_OR(out, airy_array_view(&stats, slot->stats, origin,
                                     (const size_t[2]){slot->frames, sizeof(airy_frame_stats)}));
    AIRY_TRY_OR(out, airy_batch_upload(run->up, slot->batch, &chunks));
    if (run->up != run->compute) {
        AIRY_TRY_OR(out, airy_event_record(slot->uploaded, run->up));
        AIRY_TRY_OR(out, airy_queue_flush(run->up));
        AIRY_TRY_OR(out, airy_queue_wait(run->compute, slot->uploaded));
    }
    AIRY_TRY_OR(out, airy_integrate_chunks(run->compute, sums, stats, run->integrator, &chunks));
    AIRY_TRY_OR(out, submit_decoded(run, slot));
    if (run->down != run->compute) {
        AIRY_TRY_OR(out, airy_event_record(slot->computed, run->compute));
        AIRY_TRY_OR(out, airy_queue_flush(run->compute));
        AIRY_TRY_OR(out, airy_queue_wait(run->down, slot->computed));
    }
    AIRY_TRY_OR(out, airy_array_pull(run->down, airy_host_data(slot->host_results),
                                     run->plan.result_bytes, slot->results));
    AIRY_TRY_OR(out, airy_event_record(slot->done, run->down));
    status = airy_queue_flush(run->down);
out:
    airy_array_destroy(&sums);
    airy_array_destroy(&stats);
    return status;
}

/*
 * The calling thread's part: full slots in order, until all are done, the run is stopped or fails.
 */
static void submit_all(struct airy_run *run)
{
    pthread_mutex_lock(&run->lock);
    for (size_t number = 0;; number++) {
        struct airy_slot *slot = &run->slots[number % run->plan.slots];
        while (!run->failed && !(slot->state == AIRY_SLOT_FULL && slot->number == number) &&
               number < (run->stopped ? run->next_batch : run->batches))
            pthread_cond_wait(&run->changed, &run->lock);
        if (run->failed || number >= (run->stopped ? run->next_batch : run->batches))
            break;
        pthread_mutex_unlock(&run->lock);
        const airy_status status = submit(run, slot);
        if (status != AIRY_OK)
            airy_run_fail(run, status);
        pthread_mutex_lock(&run->lock);
        slot->state = AIRY_SLOT_SUBMITTED;
        pthread_cond_broadcast(&run->changed);
    }
    pthread_mutex_unlock(&run->lock);
}

static airy_status run_threads(struct airy_run *run)
{
    pthread_t *readers = NULL, writer;
    size_t started = 0;
    AIRY_TRY(airy_memory_calloc((void **)&readers, run->plan.readers, sizeof(readers[0]),
                                "reader threads"));
    bool writing = pthread_create(&writer, NULL, airy_run_writer, run) == 0;
    while (writing && started < run->plan.readers &&
           pthread_create(&readers[started], NULL, airy_run_reader, run) == 0)
        started++;
    if (!writing || !started)
        airy_run_fail(run, airy_fail(AIRY_ERR_MEMORY, "cannot start the threads of the pipeline"));
    submit_all(run);
    for (size_t i = 0; i < started; i++)
        pthread_join(readers[i], NULL);
    if (writing)
        pthread_join(writer, NULL);
    free(readers);
    if (run->failed)
        return airy_fail_restore(run->status, run->message);
    AIRY_TRY(airy_queue_finish(run->up));
    AIRY_TRY(airy_queue_finish(run->compute));
    return airy_queue_finish(run->down);
}

static airy_status open_queues(struct airy_run *run)
{
    airy_device *device = run->integrator->device;
    AIRY_TRY(airy_queue_create(&run->compute, device));
    if (device->backend->in_place) {
        run->up = run->down = run->compute;
        return AIRY_OK;
    }
    AIRY_TRY(airy_queue_create(&run->up, device));
    return airy_queue_create(&run->down, device);
}

static void close_queues(struct airy_run *run)
{
    if (run->up == run->compute)
        run->up = NULL;
    if (run->down == run->compute)
        run->down = NULL;
    airy_queue_destroy(&run->up);
    airy_queue_destroy(&run->down);
    airy_queue_destroy(&run->compute);
}

/* Rows that are not in the partial file yet. */
static airy_status list_rows(struct airy_run *run)
{
    AIRY_TRY(
        airy_memory_calloc((void **)&run->rows, run->total_rows, sizeof(run->rows[0]), "rows"));
    for (size_t row = 0; row < run->total_rows; row++)
        if (!run->file || !airy_pattern_file_done(run->file, row))
            run->rows[run->row_count++] = row;
    run->out->resumed = run->total_rows - run->row_count;
    return AIRY_OK;
}

static airy_status open_file(struct airy_run *run, const char *path)
{
    const airy_integrator *integrator = run->integrator;
    uint64_t *index = NULL;
    double *monitor = NULL;
    airy_status status;
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&index, run->total_rows, sizeof(index[0]),
                                        "frame numbers"));
    AIRY_TRY_OR(
        out, airy_memory_calloc((void **)&monitor, run->total_rows, sizeof(monitor[0]), "monitor"));
    for (size_t row = 0; row < run->total_rows; row++) {
        index[row] = airy_run_frame(run->params, row);
        if (run->params->monitor)
            monitor[row] = run->params->monitor[index[row]];
    }
    const struct airy_pattern_spec spec = {
        .frames = run->total_rows,
        .bins = integrator->bins,
        .radial = integrator->radial,
        .unit = integrator->params.unit,
        .errors = integrator->params.error_model != AIRY_ERROR_MODEL_NONE,
        .index = index,
        .configuration = run->params->configuration ? run->params->configuration : "{}",
        .monitor = run->params->monitor ? monitor : NULL,
    };
    status =
        airy_pattern_file_create(&run->file, path, &spec, run->params->force, run->params->resume);
out:
    free(index);
    free(monitor);
    return status;
}

/* The planes of a frame without invalid pixels, for what does not differ between frames. */
static airy_status finish_file(struct airy_run *run)
{
    const airy_integrator *it = run->integrator;
    double *sums = NULL;
    AIRY_TRY(
        airy_memory_calloc((void **)&sums, AIRY_SUM_PLANES * it->bins, sizeof(double), "sums"));
    const size_t size = it->bins * sizeof(double);
    memcpy(sums + AIRY_SUM_NORMALIZATION * it->bins, it->base_normalization, size);
    memcpy(sums + AIRY_SUM_NORMALIZATION2 * it->bins, it->base_normalization2, size);
    memcpy(sums + AIRY_SUM_COUNT_PLANE * it->bins, it->base_count, size);
    const airy_status status = airy_pattern_file_finish(run->file, sums);
    free(sums);
    return status;
}

static void close_memory(struct airy_run *run)
{
    /* What is enqueued refers to the slots: it ends before they go. */
    if (run->up && run->up != run->compute)
        (void)airy_queue_finish(run->up);
    if (run->compute)
        (void)airy_queue_finish(run->compute);
    if (run->down && run->down != run->compute)
        (void)airy_queue_finish(run->down);
    for (size_t i = 0; run->slots && i < run->plan.slots; i++)
        close_slot(run, &run->slots[i]);
    free(run->slots);
    run->slots = NULL;
    close_queues(run);
}

/*
 * A batch without a readable frame goes the whole way, so that the back end takes the scratch it
 * needs and compiles what it has to before anything counts on it.
 */
static airy_status rehearse(struct airy_run *run)
{
    struct airy_slot *slot = &run->slots[0];
    slot->frames = run->plan.batch;
    AIRY_TRY(airy_batch_reserve(slot->batch, slot->frames, slot->sizes));
    AIRY_TRY(submit(run, slot));
    AIRY_TRY(airy_event_wait(slot->done));
    AIRY_TRY(airy_queue_finish(run->up));
    AIRY_TRY(airy_queue_finish(run->compute));
    return airy_queue_finish(run->down);
}

static airy_status open_memory(struct airy_run *run)
{
    AIRY_TRY(
        airy_memory_calloc((void **)&run->slots, run->plan.slots, sizeof(run->slots[0]), "slots"));
    AIRY_TRY(open_queues(run));
    for (size_t i = 0; i < run->plan.slots; i++)
        AIRY_TRY(open_slot(run, &run->slots[i]));
    return rehearse(run);
}

/*
 * Queues and slots for the pending rows: as planned, or less of it where the memory turns out to
 * be less.
 */
static airy_status prepare(struct airy_run *run)
{
    AIRY_TRY(airy_run_plan_make(&run->plan, run->stack, run->integrator, run->params, run->rows,
                                run->row_count, NULL));
    for (;;) {
        const airy_status status = open_memory(run);
        if (status != AIRY_ERR_MEMORY) {
            run->batches = (run->row_count + run->plan.batch - 1) / run->plan.batch;
            return status;
        }
        airy_log(AIRY_LOG_INFO, "%s; batches of %zu frames are too large", airy_last_error(),
                 run->plan.batch);
        close_memory(run);
        const struct airy_run_plan refused = run->plan;
        AIRY_TRY(airy_run_plan_make(&run->plan, run->stack, run->integrator, run->params, run->rows,
                                    run->row_count, &refused));
    }
}

static airy_status check_monitor(const struct airy_run *run)
{
    for (size_t row = 0; run->params->monitor && row < run->total_rows; row++) {
        const double m = run->params->monitor[airy_run_frame(run->params, row)];
        AIRY_FAIL_IF(!(m > 0 && m < HUGE_VAL), AIRY_ERR_PARAM,
                     "monitor of frame %zu = %g, expected > 0 and finite",
                     airy_run_frame(run->params, row), m);
    }
    return AIRY_OK;
}

static airy_status run_all(struct airy_run *run, const char *path)
{
    const size_t bins = run->integrator->bins;
    struct airy_run_plan plan;
    AIRY_TRY(airy_run_rows(&run->total_rows, &run->info, run->params));
    AIRY_TRY(check_monitor(run));
    /* What cannot be done for all rows fails before a file is made. */
    AIRY_TRY(airy_run_plan_make(&plan, run->stack, run->integrator, run->params, NULL,
                                run->total_rows, NULL));
    AIRY_TRY(airy_memory_calloc((void **)&run->intensity, 3 * bins, sizeof(float), "patterns"));
    run->std = run->intensity + bins;
    run->sem = run->std + bins;
    if (path)
        AIRY_TRY(open_file(run, path));
    AIRY_TRY(list_rows(run));
    if (run->row_count) {
        AIRY_TRY(prepare(run));
        AIRY_TRY(run_threads(run));
    }
    if (run->stopped && run->out->resumed + run->out->frames < run->total_rows) {
        run->out->stopped = true;
        return airy_fail(AIRY_ERR_STOPPED, "stopped after %zu of %zu frames",
                         run->out->resumed + run->out->frames, run->total_rows);
    }
    return run->file ? finish_file(run) : AIRY_OK;
}

static void describe(airy_run_info *out, const struct airy_run *run)
{
    const uint64_t frame_bytes = (uint64_t)run->info.height * run->info.width *
                                 airy_dtype_size(run->info.dtype);
    out->batch = run->plan.batch;
    out->slots = run->plan.slots;
    out->readers = run->plan.readers;
    out->host_bytes = run->plan.host_bytes;
    out->device_bytes = run->plan.device_bytes;
    out->decoded_bytes = frame_bytes * out->frames;
    for (size_t i = 0; i < run->row_count && i < out->frames; i++) {
        struct airy_source source;
        airy_stack_source(run->stack, airy_run_frame(run->params, run->rows[i]), &source);
        out->stored_bytes += source.size;
    }
}

airy_status airy_integrate_stack(const char *path, const airy_stack *stack,
                                 const airy_integrator *integrator, const airy_run_params *params,
                                 airy_run_info *info)
{
    AIRY_FAIL_IF(!stack || !integrator, AIRY_ERR_PARAM,
                 "airy_integrate_stack: stack or integrator is NULL");
    static const airy_run_params defaults;
    airy_run_info local;
    struct airy_run run = {
        .stack = stack,
        .integrator = integrator,
        .params = params ? params : &defaults,
        .out = info ? info : &local,
    };
    *run.out = (airy_run_info){0};
    AIRY_TRY(airy_stack_get_info(stack, &run.info));
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.changed, NULL);
    const uint64_t start = airy_clock_ns();
    const airy_status status = run_all(&run, path);
    char sentence[1024];
    if (status != AIRY_OK)
        snprintf(sentence, sizeof(sentence), "%s", airy_last_error());
    describe(run.out, &run);
    close_memory(&run);
    if (run.file) /* unfinished: what is done can be resumed */
        airy_pattern_file_destroy(&run.file, status == AIRY_OK || run.params->resume ||
                                                 run.out->frames + run.out->resumed > 0);
    free(run.rows);
    free(run.intensity);
    pthread_cond_destroy(&run.changed);
    pthread_mutex_destroy(&run.lock);
    run.out->seconds = (double)(airy_clock_ns() - start) * 1e-9;
    return status == AIRY_OK ? status : airy_fail_restore(status, sentence);
}

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "integrate/integrator.h"
#include "pipeline/run.h"

/* One thread of each kind, and readers; what cannot be started fails the run. */
static void start_threads(struct airy_lane *lane)
{
    const size_t readers = lane->readers;
    const airy_status status = airy_memory_calloc((void **)&lane->threads, readers + 2,
                                                  sizeof(lane->threads[0]), "threads of a run");
    if (status != AIRY_OK) {
        airy_run_fail(lane, status);
        return;
    }
    for (size_t i = 0; i < readers + 2; i++) {
        void *(*const body)(void *) = i == 0   ? airy_run_writer
                                      : i == 1 ? airy_run_submitter
                                               : airy_run_reader;
        if (pthread_create(&lane->threads[i], NULL, body, lane) != 0) {
            if (i < 3)
                airy_run_fail(
                    lane, airy_fail(AIRY_ERR_MEMORY, "cannot start the threads of the pipeline"));
            return;
        }
        lane->thread_count++;
    }
}

static airy_status run_threads(struct airy_run *run)
{
    for (size_t i = 0; i < run->team.lanes; i++)
        start_threads(&run->lanes[i]);
    for (size_t i = 0; i < run->team.lanes; i++) {
        struct airy_lane *lane = &run->lanes[i];
        for (size_t t = 0; t < lane->thread_count; t++)
            pthread_join(lane->threads[t], NULL);
        free(lane->threads);
        lane->threads = NULL;
        lane->thread_count = 0;
    }
    if (run->failed || run->bad_batch != SIZE_MAX)
        return airy_fail_restore(run->status, run->message);
    for (size_t i = 0; i < run->team.lanes; i++)
        AIRY_TRY(airy_lane_finish(&run->lanes[i]));
    return AIRY_OK;
}

/* Rows of this part that are not in the partial file yet. */
static airy_status list_rows(struct airy_run *run)
{
    AIRY_TRY(
        airy_memory_calloc((void **)&run->rows, run->total_rows, sizeof(run->rows[0]), "rows"));
    const size_t groups = airy_run_groups(run);
    for (size_t row = 0; row < run->total_rows; row++) {
        if (!airy_run_is_mine(run->params, row / run->group, groups))
            continue;
        if (run->file && airy_pattern_file_done(run->file, row / run->group))
            run->resumed++;
        else
            run->rows[run->row_count++] = row;
    }
    run->out->resumed = run->resumed;
    return AIRY_OK;
}

static airy_status open_lanes(struct airy_run *run)
{
    for (size_t i = 0; i < run->team.lanes; i++) {
        const airy_status status = airy_lane_open(&run->lanes[i]);
        if (status != AIRY_OK)
            return run->team.count == 1
                       ? status
                       : airy_fail_context(status, "device %s",
                                           airy_device_spec(run->lanes[i].integrator->device));
    }
    return AIRY_OK;
}

static void close_lanes(struct airy_run *run)
{
    for (size_t i = 0; run->lanes && i < run->team.lanes; i++)
        airy_lane_close(&run->lanes[i]);
}

static airy_status open_group(const struct airy_run *run, struct airy_group *group)
{
    const airy_integrator *it = run->team.integrators[0];
    return airy_accumulator_create(&group->sums, it->bins, it->params.error_model);
}

/*
 * Queues and slots for the pending rows: as planned, or less of it where the memory turns out to
 * be less.
 */
static airy_status prepare(struct airy_run *run)
{
    AIRY_TRY(airy_run_plan_make(&run->plan, run->stack, &run->team, run->params, run->rows,
                                run->row_count, NULL));
    for (;;) {
        const airy_status status = open_lanes(run);
        if (status != AIRY_ERR_MEMORY) {
            run->batches = (run->row_count + run->plan.batch - 1) / run->plan.batch;
            run->in_turn = run->group > 1 && run->plan.batch % run->group != 0;
            return status == AIRY_OK && run->in_turn ? open_group(run, &run->spread) : status;
        }
        airy_log(AIRY_LOG_INFO, "%s; batches of %zu frames are too large", airy_last_error(),
                 run->plan.batch);
        close_lanes(run);
        const struct airy_run_plan refused = run->plan;
        AIRY_TRY(airy_run_plan_make(&run->plan, run->stack, &run->team, run->params, run->rows,
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

/* All rows of this part, into the file that is open or nowhere. */
static airy_status do_rows(struct airy_run *run)
{
    AIRY_TRY(list_rows(run));
    if (run->row_count) {
        AIRY_TRY(prepare(run));
        AIRY_TRY(run_threads(run));
    }
    run->out->stopped = run->stopped && run->out->frames < run->row_count;
    AIRY_FAIL_IF(run->out->stopped, AIRY_ERR_STOPPED, "stopped after %zu of %zu frames",
                 run->resumed + run->out->frames, run->resumed + run->row_count);
    return AIRY_OK;
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
}

static airy_status open_run(struct airy_run *run, const char *call, airy_run_info *info)
{
    static const airy_run_params defaults;
    *info = (airy_run_info){0};
    run->out = info;
    run->bad_batch = SIZE_MAX;
    if (!run->params)
        run->params = &defaults;
    pthread_mutex_init(&run->lock, NULL);
    pthread_mutex_init(&run->progress_lock, NULL);
    AIRY_TRY(airy_run_check(call, run->stack, &run->team, run->params));
    AIRY_TRY(airy_stack_get_info(run->stack, &run->info));
    AIRY_TRY(airy_run_rows(&run->total_rows, &run->info, run->params));
    AIRY_TRY(check_monitor(run));
    AIRY_TRY(airy_integrator_get_info(run->team.integrators[0], &run->axes));
    run->group = airy_run_group(run->params, run->total_rows);
    run->team.lanes = airy_run_lanes(&run->team, run->params, run->total_rows);
    AIRY_TRY(airy_memory_calloc((void **)&run->lanes, run->team.lanes, sizeof(run->lanes[0]),
                                "devices of a run"));
    for (size_t i = 0; i < run->team.lanes; i++) {
        struct airy_lane *lane = &run->lanes[i];
        lane->run = run;
        lane->integrator = run->team.integrators[i % run->team.count];
        pthread_cond_init(&lane->room, NULL);
        pthread_cond_init(&lane->full, NULL);
        pthread_cond_init(&lane->sent, NULL);
    }
    return AIRY_OK;
}

/* keep: the partial file stays, where there is one. */
static void close_run(struct airy_run *run, bool keep)
{
    describe(run->out, run);
    close_lanes(run);
    if (run->file)
        airy_pattern_file_destroy(&run->file, keep);
    for (size_t i = 0; run->lanes && i < run->team.lanes; i++) {
        pthread_cond_destroy(&run->lanes[i].room);
        pthread_cond_destroy(&run->lanes[i].full);
        pthread_cond_destroy(&run->lanes[i].sent);
    }
    airy_accumulator_destroy(&run->spread.sums);
    free(run->lanes);
    free(run->rows);
    pthread_mutex_destroy(&run->progress_lock);
    pthread_mutex_destroy(&run->lock);
}

static airy_status integrate_alone(struct airy_run *run, const char *path)
{
    struct airy_run_plan plan;
    AIRY_FAIL_IF(path && run->params->parts > 1, AIRY_ERR_PARAM,
                 "airy_integrate_stack: parts = %zu, expected 1: parts of a file are for "
                 "airy_run_work",
                 run->params->parts);
    /* What cannot be done for all rows fails before a file is made. */
    AIRY_TRY(airy_run_plan_make(&plan, run->stack, &run->team, run->params, NULL, run->total_rows,
                                NULL));
    if (path)
        AIRY_TRY(airy_run_file_open(run, path, AIRY_RUN_ALONE));
    AIRY_TRY(do_rows(run));
    return run->file ? airy_run_file_finish(run) : AIRY_OK;
}

/* Frames whose row of the file is not pending. */
static size_t done_rows(const struct airy_run *run)
{
    const size_t groups = airy_run_groups(run);
    size_t done = 0;
    for (size_t i = 0; i < groups; i++)
        if (!airy_pattern_file_row_pending(run->file, i))
            done += airy_min_size(run->group, run->total_rows - i * run->group);
    return done;
}

static airy_status create_file(struct airy_run *run, const char *path)
{
    AIRY_TRY(airy_run_file_open(run, path, AIRY_RUN_ALONE));
    if (run->params->resume)
        AIRY_TRY(airy_pattern_file_retry(run->file));
    run->out->resumed = done_rows(run);
    return AIRY_OK;
}

static airy_status work_on_part(struct airy_run *run, const char *path)
{
    if (path)
        AIRY_TRY(airy_run_file_open(run, path, AIRY_RUN_JOIN));
    return do_rows(run);
}

static airy_status finish_file(struct airy_run *run, const char *path)
{
    AIRY_TRY(airy_run_file_open(run, path, AIRY_RUN_GATHER));
    const size_t pending = airy_pattern_file_pending(run->file);
    run->out->frames = done_rows(run);
    run->out->stopped = pending > 0;
    AIRY_FAIL_IF(pending, AIRY_ERR_STOPPED, "'%s.partial': %zu of %zu rows are not written", path,
                 pending, airy_run_groups(run));
    return airy_run_file_finish(run);
}

/* Open, do, close; the first failure is the one that is told. */
static airy_status execute(struct airy_run *run, const char *call, const char *path,
                           airy_status (*what)(struct airy_run *run, const char *path),
                           airy_run_info *info)
{
    airy_run_info local;
    const uint64_t start = airy_clock_ns();
    airy_status status = open_run(run, call, info ? info : &local);
    if (status == AIRY_OK)
        status = what(run, path);
    char sentence[1024];
    if (status != AIRY_OK)
        snprintf(sentence, sizeof(sentence), "%s", airy_last_error());
    /* Unfinished: what is done can be resumed. */
    close_run(run, status == AIRY_OK || what != integrate_alone || run->params->resume ||
                       run->out->frames + run->out->resumed > 0);
    run->out->seconds = (double)(airy_clock_ns() - start) * 1e-9;
    return status == AIRY_OK ? status : airy_fail_restore(status, sentence);
}

airy_status airy_integrate_stack(const char *path, const airy_stack *stack,
                                 airy_integrator *const *integrators, size_t count,
                                 const airy_run_params *params, airy_run_info *info)
{
    struct airy_run run = {.stack = stack,
                           .team = {(const airy_integrator *const *)integrators, count, 0},
                           .params = params};
    return execute(&run, "airy_integrate_stack", path, integrate_alone, info);
}

airy_status airy_run_create(const char *path, const airy_stack *stack,
                            const airy_integrator *integrator, const airy_run_params *params,
                            airy_run_info *info)
{
    struct airy_run run = {.stack = stack, .team = {&integrator, 1, 0}, .params = params};
    return execute(&run, "airy_run_create", path, create_file, info);
}

airy_status airy_run_work(const char *path, const airy_stack *stack,
                          airy_integrator *const *integrators, size_t count,
                          const airy_run_params *params, airy_run_info *info)
{
    struct airy_run run = {.stack = stack,
                           .team = {(const airy_integrator *const *)integrators, count, 0},
                           .params = params};
    return execute(&run, "airy_run_work", path, work_on_part, info);
}

airy_status airy_run_finish(const char *path, const airy_stack *stack,
                            const airy_integrator *integrator, const airy_run_params *params,
                            airy_run_info *info)
{
    struct airy_run run = {.stack = stack, .team = {&integrator, 1, 0}, .params = params};
    return execute(&run, "airy_run_finish", path, finish_file, info);
}

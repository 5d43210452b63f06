/* A run from its opening to its end, whoever brings the frames. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "engine/run.h"

static void *run_thread(void *arg)
{
    const struct airy_run_thread *thread = arg;
    thread->body(thread->lane);
    airy_messages_leave(&thread->lane->run->messages);
    return NULL;
}

/* One thread of each kind, more readers and writers; what cannot be started fails the run. */
static void start_threads(struct airy_lane *lane)
{
    static void *(*const others[])(void *) = {airy_run_writer, airy_run_submitter, airy_run_waiter};
    const size_t readers = lane->run->feed ? 0 : lane->readers;
    const size_t other = lane->device->backend->in_place ? 2 : 3, more = lane->run->writers - 1;
    const size_t needed = other + (readers ? 1 : 0), threads = other + readers + more;
    const airy_status status = airy_memory_calloc((void **)&lane->threads, threads,
                                                  sizeof(lane->threads[0]), "threads of a run");
    if (status != AIRY_OK) {
        airy_run_fail(lane, NULL, status);
        return;
    }
    for (size_t i = 0; i < threads; i++) {
        struct airy_run_thread *thread = &lane->threads[i];
        thread->body = i < other             ? others[i]
                       : i < other + readers ? airy_run_reader
                                             : airy_run_writer;
        thread->lane = lane;
        if (pthread_create(&thread->thread, NULL, run_thread, thread) != 0) {
            if (i < needed)
                airy_run_fail(
                    lane, NULL,
                    airy_fail(AIRY_ERR_MEMORY, "cannot start the threads of the pipeline"));
            return;
        }
        lane->thread_count++;
    }
}

void airy_run_start(struct airy_run *run)
{
    run->shown_ns = airy_clock_ns();
    for (size_t i = 0; i < run->team.lanes; i++)
        start_threads(&run->lanes[i]);
}

airy_status airy_run_join(struct airy_run *run)
{
    size_t threads = 0;
    for (size_t i = 0; i < run->team.lanes; i++)
        threads += run->lanes[i].thread_count;
    airy_messages_serve(&run->messages, threads);
    for (size_t i = 0; i < run->team.lanes; i++) {
        struct airy_lane *lane = &run->lanes[i];
        for (size_t t = 0; t < lane->thread_count; t++)
            pthread_join(lane->threads[t].thread, NULL);
        free(lane->threads);
        lane->threads = NULL;
        lane->thread_count = 0;
    }
    const bool given_up = run->failed && run->error.status == AIRY_ERR_CANCELLED;
    if (!given_up && (run->failed || run->bad_batch != SIZE_MAX))
        return airy_error_restore(&run->error);
    for (size_t i = 0; i < run->team.lanes; i++)
        AIRY_TRY(airy_lane_finish(&run->lanes[i]));
    return AIRY_OK;
}

static airy_status open_lanes(struct airy_run *run)
{
    for (size_t i = 0; i < run->team.lanes; i++) {
        const airy_status status = airy_lane_open(&run->lanes[i]);
        if (status != AIRY_OK)
            return run->team.count == 1 ? status
                                        : airy_fail_context(status, "device %s",
                                                            airy_device_spec(run->lanes[i].device));
    }
    return AIRY_OK;
}

static void close_lanes(struct airy_run *run)
{
    for (size_t i = 0; run->lanes && i < run->team.lanes; i++)
        airy_lane_close(&run->lanes[i]);
}

/* How many batches of a stack there are; fed or claimed, nobody knows before the end. */
static size_t count_batches(const struct airy_run *run)
{
    return run->feed || run->params->claim
               ? SIZE_MAX
               : (run->row_count + run->plan.batch - 1) / run->plan.batch;
}

airy_status airy_run_prepare(struct airy_run *run)
{
    const bool claimed = run->params->claim != NULL;
    const size_t *rows = claimed ? NULL : run->rows;
    const size_t count = claimed ? run->total_rows : run->row_count;
    AIRY_TRY(airy_run_plan_make(&run->plan, run, rows, count, NULL));
    for (;;) {
        /* Who claims a last group with fewer frames early moves all that come behind it. */
        run->in_turn = run->work->in_turn || run->ordered ||
                       (run->group > 1 && run->plan.batch % run->group != 0) ||
                       (claimed && run->total_rows % run->group != 0);
        if (run->in_turn || run->writers == 0)
            run->writers = 1;
        const airy_status status = open_lanes(run);
        if (status != AIRY_ERR_MEMORY) {
            run->batches = count_batches(run);
            return status;
        }
        airy_message(&run->messages, AIRY_LOG_INFO, "%s; batches of %zu frames are too large",
                     airy_last_error(), run->plan.batch);
        close_lanes(run);
        const struct airy_run_plan refused = run->plan;
        AIRY_TRY(airy_run_plan_make(&run->plan, run, rows, count, &refused));
    }
}

/* Rows of this part that were not done earlier; those to claim come later. */
static airy_status list_rows(struct airy_run *run)
{
    AIRY_TRY(
        airy_memory_calloc((void **)&run->rows, run->total_rows, sizeof(run->rows[0]), "rows"));
    if (run->params->claim)
        return AIRY_OK;
    const size_t groups = airy_run_groups(run);
    for (size_t row = 0; row < run->total_rows; row++) {
        if (!airy_run_is_mine(run->params, row / run->group, groups))
            continue;
        if (run->work->is_done && run->work->is_done(run, row / run->group))
            run->resumed++;
        else
            run->rows[run->row_count++] = row;
    }
    run->out->resumed = run->resumed;
    return AIRY_OK;
}

airy_status airy_run_execute(struct airy_run *run)
{
    AIRY_TRY(list_rows(run));
    const bool claimed = run->params->claim != NULL;
    if (run->row_count || claimed) {
        AIRY_TRY(airy_run_prepare(run));
        airy_run_start(run);
        AIRY_TRY(airy_run_join(run));
    }
    /* What failed and was not told by joining was given up. */
    run->out->stopped = run->stopped && (run->failed || run->out->frames < run->row_count ||
                                         (claimed && !run->exhausted));
    AIRY_FAIL_IF(run->out->stopped, AIRY_ERR_CANCELLED, "cancelled after %zu of %zu frames",
                 run->resumed + run->out->frames, run->resumed + run->row_count);
    return AIRY_OK;
}

static void describe(airy_run_info *out, const struct airy_run *run)
{
    const uint64_t frame_bytes = (uint64_t)run->info.height * run->info.width *
                                 airy_dtype_size(run->info.dtype);
    airy_run_tell_plan(out, &run->plan);
    out->decoded_bytes = frame_bytes * (out->frames - out->bad);
}

/* Waits on it end at times of airy_clock_ns. */
static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

airy_status airy_run_begin(struct airy_run *run, const char *call)
{
    static const airy_run_params defaults;
    run->call = call;
    run->params = run->params ? run->params : &defaults;
    run->bad_batch = SIZE_MAX;
    run->skip_bad = run->feed || run->params->skip_bad;
    pthread_mutex_init(&run->lock, NULL);
    pthread_mutex_init(&run->progress_lock, NULL);
    if (run->feed)
        init_condition(&run->feed->room);
    AIRY_TRY(airy_messages_open(&run->messages, run->params->message, run->params->user,
                                run->feed != NULL));
    if (!run->stack)
        return AIRY_OK;
    AIRY_TRY(airy_stack_refuse_pipe(run->stack, call));
    return airy_stack_get_info(run->stack, &run->info);
}

airy_status airy_run_set_team(struct airy_run *run, size_t count)
{
    run->team.count = count;
    return airy_memory_calloc((void **)&run->team.devices, count, sizeof(airy_device *),
                              "devices of a run");
}

airy_status airy_run_open(struct airy_run *run)
{
    AIRY_TRY(airy_run_check(run->params));
    run->total_rows = run->info.frames;
    if (!run->feed)
        AIRY_TRY(airy_run_rows(&run->total_rows, &run->info, run->params));
    run->group = airy_run_group(run->params, run->total_rows);
    airy_run_set_lanes(run, run->total_rows);
    AIRY_TRY(airy_memory_calloc((void **)&run->lanes, run->team.lanes, sizeof(run->lanes[0]),
                                "devices of a run"));
    for (size_t i = 0; i < run->team.lanes; i++) {
        struct airy_lane *lane = &run->lanes[i];
        lane->run = run;
        lane->member = i % run->team.count;
        lane->device = run->team.devices[lane->member];
        init_condition(&lane->room);
        init_condition(&lane->full);
        init_condition(&lane->sent);
        init_condition(&lane->made);
    }
    return AIRY_OK;
}

void airy_run_close(struct airy_run *run)
{
    describe(run->out, run);
    close_lanes(run);
    for (size_t i = 0; run->lanes && i < run->team.lanes; i++) {
        pthread_cond_destroy(&run->lanes[i].room);
        pthread_cond_destroy(&run->lanes[i].full);
        pthread_cond_destroy(&run->lanes[i].sent);
        pthread_cond_destroy(&run->lanes[i].made);
    }
    free(run->lanes);
    free(run->team.devices);
    free(run->rows);
    if (run->feed)
        pthread_cond_destroy(&run->feed->room);
    airy_messages_close(&run->messages);
    pthread_mutex_destroy(&run->progress_lock);
    pthread_mutex_destroy(&run->lock);
}

airy_status airy_run_do(struct airy_run *run, const char *call,
                        airy_status (*open)(struct airy_run *run),
                        airy_status (*perform)(struct airy_run *run),
                        void (*release)(struct airy_run *run))
{
    const uint64_t start = airy_clock_ns();
    airy_error error = {.status = AIRY_OK};
    *run->out = (airy_run_info){0};
    airy_status status = airy_run_begin(run, call);
    if (status == AIRY_OK)
        status = open(run);
    if (status == AIRY_OK)
        status = perform(run);
    (void)airy_error_first(&error, status);
    airy_run_close(run);
    if (release)
        release(run);
    run->out->seconds = (double)(airy_clock_ns() - start) * 1e-9;
    return airy_error_restore(&error);
}

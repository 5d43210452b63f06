#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/numa.h"
#include "base/size.h"
#include "core/backend.h"
#include "integrate/integrate_fns.h"
#include "pipeline/run.h"

static airy_status open_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    const struct airy_run *run = lane->run;
    airy_device *device = lane->integrator->device;
    const size_t batch = run->plan.batch, bins = lane->integrator->bins;
    AIRY_TRY(airy_memory_calloc((void **)&slot->fates, batch, sizeof(slot->fates[0]),
                                "frames of a slot"));
    AIRY_TRY(airy_memory_calloc((void **)&slot->sizes, batch, sizeof(slot->sizes[0]),
                                "frames of a slot"));
    if (run->feed) {
        AIRY_TRY(airy_memory_calloc((void **)&slot->own_rows, batch, sizeof(slot->own_rows[0]),
                                    "frames of a slot"));
        AIRY_TRY(airy_memory_calloc((void **)&slot->received, batch, sizeof(slot->received[0]),
                                    "frames of a slot"));
        slot->rows = slot->own_rows;
    }
    AIRY_TRY(airy_array_create_uninitialized(&slot->results, device, AIRY_DTYPE_U8, 1,
                                             &run->plan.result_bytes));
    const size_t sums_shape[3] = {batch, AIRY_SUM_PLANES, bins};
    const size_t stats_shape[2] = {batch, sizeof(airy_frame_stats)};
    AIRY_TRY(airy_array_view_as(&slot->sums, slot->results, 0, AIRY_DTYPE_F64, 3, sums_shape));
    AIRY_TRY(airy_array_view_as(&slot->stats, slot->results,
                                batch * AIRY_SUM_PLANES * bins * sizeof(double), AIRY_DTYPE_U8, 2,
                                stats_shape));
    if (!device->backend->in_place)
        AIRY_TRY(airy_host_create(&slot->host_results, device, run->plan.host_results));
    AIRY_TRY(airy_event_create(&slot->uploaded, device));
    AIRY_TRY(airy_event_create(&slot->computed, device));
    return airy_event_create(&slot->done, device);
}

static void close_slot(const struct airy_lane *lane, struct airy_slot *slot)
{
    airy_event_destroy(&slot->uploaded);
    airy_event_destroy(&slot->computed);
    airy_event_destroy(&slot->done);
    airy_array_destroy(&slot->sums);
    airy_array_destroy(&slot->stats);
    airy_array_destroy(&slot->results);
    airy_host_destroy(&slot->host_results);
    for (size_t i = 0; slot->fates && i < lane->run->plan.batch; i++)
        free(slot->fates[i].pixels);
    free(slot->fates);
    free(slot->sizes);
    free(slot->own_rows);
    free(slot->received);
    *slot = (struct airy_slot){0};
}

static airy_status open_batches(struct airy_lane *lane, size_t count)
{
    const struct airy_run *run = lane->run;
    const airy_batch_params params = {
        .dtype = run->info.dtype,
        .height = run->info.height,
        .width = run->info.width,
        .codec = run->info.codec,
        .frames = run->plan.batch,
        .bytes = run->plan.batch_bytes,
    };
    AIRY_TRY(airy_memory_calloc((void **)&lane->batches, count, sizeof(airy_batch *), "batches"));
    AIRY_TRY(airy_memory_calloc((void **)&lane->idle, count, sizeof(airy_batch *), "batches"));
    while (lane->batch_count < count) {
        airy_batch **batch = &lane->batches[lane->batch_count];
        AIRY_TRY(airy_batch_create(batch, lane->integrator->device, &params));
        lane->idle[lane->batch_count++] = *batch;
    }
    lane->idle_count = count;
    return AIRY_OK;
}

static void close_batches(struct airy_lane *lane)
{
    for (size_t i = 0; i < lane->batch_count; i++)
        airy_batch_destroy(&lane->batches[i]);
    free(lane->batches);
    free(lane->idle);
    lane->batches = lane->idle = NULL;
    lane->batch_count = lane->idle_count = 0;
}

bool airy_lane_has_room(const struct airy_lane *lane)
{
    return lane->idle_count > 0 &&
           lane->slots[lane->started % lane->slot_count].state == AIRY_SLOT_FREE;
}

struct airy_slot *airy_lane_take_slot(struct airy_lane *lane)
{
    struct airy_slot *slot = &lane->slots[lane->started++ % lane->slot_count];
    slot->batch = lane->idle[--lane->idle_count];
    slot->state = AIRY_SLOT_FILLING;
    return slot;
}

/* The device has no more use for the slot's frames. The lock is held. */
static void finish_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    const struct airy_run *run = lane->run;
    lane->idle[lane->idle_count++] = slot->batch;
    slot->batch = NULL;
    slot->state = AIRY_SLOT_DONE;
    lane->done++;
    pthread_cond_signal(&lane->made);
    pthread_cond_broadcast(&lane->room);
    if (run->feed) {
        pthread_cond_broadcast(&run->feed->room);
        pthread_cond_signal(&lane->full); /* the device may have nothing to do now */
    }
}

/* Frames that the readers had to decode: each by itself, over the row that the batch left empty. */
static airy_status submit_decoded(struct airy_lane *lane, struct airy_slot *slot)
{
    const struct airy_run *run = lane->run;
    for (size_t i = 0; i < slot->frames; i++) {
        struct airy_frame_fate *fate = &slot->fates[i];
        if (!fate->pixels)
            continue;
        airy_array *frame = NULL, *sums = NULL, *stats = NULL;
        const size_t shape[3] = {1, run->info.height, run->info.width};
        const size_t start[3] = {i, 0, 0};
        airy_status status;
        AIRY_TRY_OR(out, airy_array_create_from(&frame, lane->compute, run->info.dtype, 3, shape,
                                                fate->pixels));
        AIRY_TRY_OR(out,
                    airy_array_view(&sums, slot->sums, start,
                                    (const size_t[3]){1, AIRY_SUM_PLANES, lane->integrator->bins}));
        AIRY_TRY_OR(out, airy_array_view(&stats, slot->stats, start,
                                         (const size_t[2]){1, sizeof(airy_frame_stats)}));
        AIRY_TRY_OR(out, airy_integrate(lane->compute, sums, stats, lane->integrator, frame));
        status = airy_queue_finish(lane->compute); /* the frame's memory goes */
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

/* Sums and stats of the slot's frames to the host. */
static airy_status pull_results(struct airy_lane *lane, struct airy_slot *slot)
{
    const struct airy_run_plan *plan = &lane->run->plan;
    const size_t bins = lane->integrator->bins, origin[3] = {0, 0, 0};
    uint8_t *host = airy_host_data(slot->host_results);
    if (plan->planes == AIRY_SUM_PLANES)
        return airy_array_pull(lane->down, host, plan->result_bytes, slot->results);
    airy_array *sums = NULL;
    const size_t plane = bins * sizeof(double);
    AIRY_TRY(airy_array_view(&sums, slot->sums, origin,
                             (const size_t[3]){slot->frames, plan->planes, bins}));
    airy_status status =
        airy_array_pull(lane->down, host, slot->frames * plan->planes * plane, sums);
    airy_array_destroy(&sums);
    if (status == AIRY_OK)
        status = airy_array_pull(lane->down, host + plan->batch * plan->planes * plane,
                                 plan->batch * sizeof(airy_frame_stats), slot->stats);
    return status;
}

airy_status airy_lane_submit(struct airy_lane *lane, struct airy_slot *slot)
{
    struct airy_chunks chunks;
    const size_t origin[3] = {0, 0, 0};
    airy_queue *up = lane->up[lane->submitted % lane->copies];
    airy_array *sums = NULL, *stats = NULL;
    airy_status status;
    AIRY_TRY_OR(out, airy_array_view(
                         &sums, slot->sums, origin,
                         (const size_t[3]){slot->frames, AIRY_SUM_PLANES, lane->integrator->bins}));
    AIRY_TRY_OR(out, airy_array_view(&stats, slot->stats, origin,
                                     (const size_t[2]){slot->frames, sizeof(airy_frame_stats)}));
    AIRY_TRY_OR(out, airy_batch_upload(up, slot->batch, &chunks));
    if (up != lane->compute) {
        AIRY_TRY_OR(out, airy_event_record(slot->uploaded, up));
        AIRY_TRY_OR(out, airy_queue_flush(up));
        AIRY_TRY_OR(out, airy_queue_wait(lane->compute, slot->uploaded));
    }
    AIRY_TRY_OR(out, airy_integrate_chunks(lane->compute, sums, stats, lane->integrator, &chunks,
                                           lane->run->plan.planes < AIRY_SUM_PLANES));
    AIRY_TRY_OR(out, submit_decoded(lane, slot));
    if (lane->down != lane->compute) {
        AIRY_TRY_OR(out, airy_event_record(slot->computed, lane->compute));
        AIRY_TRY_OR(out, airy_queue_flush(lane->compute));
        AIRY_TRY_OR(out, airy_queue_wait(lane->down, slot->computed));
    }
    if (slot->host_results)
        AIRY_TRY_OR(out, pull_results(lane, slot));
    AIRY_TRY_OR(out, airy_event_record(slot->done, lane->down));
    status = airy_queue_flush(lane->down);
out:
    airy_array_destroy(&sums);
    airy_array_destroy(&stats);
    return status;
}

/* Until the lane's next slot may be full, or that time; 0: for as long as it takes. */
static void wait_full(struct airy_lane *lane, uint64_t until)
{
    const struct timespec time = {.tv_sec = (time_t)(until / 1000000000),
                                  .tv_nsec = (long)(until % 1000000000)};
    if (until)
        pthread_cond_timedwait(&lane->full, &lane->run->lock, &time);
    else
        pthread_cond_wait(&lane->full, &lane->run->lock);
}

void *airy_run_submitter(void *arg)
{
    struct airy_lane *lane = arg;
    struct airy_run *run = lane->run;
    airy_numa_bind(lane->integrator->device->node);
    pthread_mutex_lock(&run->lock);
    for (;;) {
        struct airy_slot *slot = &lane->slots[lane->submitted % lane->slot_count];
        const bool begun = lane->submitted < lane->started;
        if (run->failed || (!begun && airy_run_ends(run)))
            break;
        uint64_t until = 0;
        if (!begun ||
            !(run->feed ? run->feed->ready(lane, slot, &until) : slot->state == AIRY_SLOT_FULL)) {
            wait_full(lane, until);
            continue;
        }
        pthread_mutex_unlock(&run->lock);
        const airy_status status = airy_lane_submit(lane, slot);
        if (status != AIRY_OK)
            airy_run_fail(lane, status);
        pthread_mutex_lock(&run->lock);
        slot->state = AIRY_SLOT_SUBMITTED;
        lane->submitted++;
        if (lane->integrator->device->backend->in_place)
            finish_slot(lane, slot); /* the call has done it */
        else
            pthread_cond_signal(&lane->sent);
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

void *airy_run_waiter(void *arg)
{
    struct airy_lane *lane = arg;
    struct airy_run *run = lane->run;
    airy_numa_bind(lane->integrator->device->node);
    pthread_mutex_lock(&run->lock);
    for (;;) {
        struct airy_slot *slot = &lane->slots[lane->done % lane->slot_count];
        const bool begun = lane->done < lane->started;
        if (run->failed || (!begun && airy_run_ends(run)))
            break;
        if (!begun || slot->state != AIRY_SLOT_SUBMITTED) {
            pthread_cond_wait(&lane->sent, &run->lock);
            continue;
        }
        pthread_mutex_unlock(&run->lock);
        const airy_status status = airy_event_wait(slot->done);
        if (status != AIRY_OK)
            airy_run_fail(lane, status);
        pthread_mutex_lock(&run->lock);
        finish_slot(lane, slot);
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

static airy_status open_queues(struct airy_lane *lane)
{
    airy_device *device = lane->integrator->device;
    AIRY_TRY(airy_queue_create(&lane->compute, device));
    lane->compute->threads = lane->run->plan.threads;
    if (device->backend->in_place) {
        lane->up[0] = lane->down = lane->compute;
        lane->copies = 1;
        return AIRY_OK;
    }
    const size_t copies =
        airy_min_size(airy_tuned_for(device, AIRY_TUNE_COPIES, lane->integrator->pixels).current,
                      AIRY_RUN_COPIES);
    while (lane->copies < copies) {
        AIRY_TRY(airy_queue_create(&lane->up[lane->copies], device));
        lane->copies++;
    }
    if (lane->run->plan.planes < AIRY_SUM_PLANES)
        AIRY_TRY(airy_queue_create(&lane->fetch, device));
    return airy_queue_create(&lane->down, device);
}

airy_status airy_lane_finish(struct airy_lane *lane)
{
    for (size_t i = 0; i < lane->copies; i++)
        AIRY_TRY(airy_queue_finish(lane->up[i]));
    AIRY_TRY(airy_queue_finish(lane->compute));
    return airy_queue_finish(lane->down);
}

static airy_status rehearse(struct airy_lane *lane)
{
    struct airy_slot *slot = &lane->slots[0];
    slot->frames = lane->run->plan.batch;
    slot->batch = lane->idle[lane->idle_count - 1];
    AIRY_TRY(airy_batch_reserve(slot->batch, slot->frames, slot->sizes));
    airy_profile_pause();
    const airy_status status = airy_lane_submit(lane, slot);
    airy_profile_resume();
    AIRY_TRY(status);
    AIRY_TRY(airy_event_wait(slot->done));
    slot->batch = NULL;
    return airy_lane_finish(lane);
}

/* The lanes of a device share its slots and readers; the first ones have one more. */
static size_t share(const struct airy_lane *lane, size_t of_device)
{
    const struct airy_run_team *team = &lane->run->team;
    const size_t lanes = team->lanes / team->count;
    const size_t index = (size_t)(lane - lane->run->lanes) / team->count;
    return airy_max_size(of_device / lanes + (index < of_device % lanes), 1);
}

airy_status airy_lane_open(struct airy_lane *lane)
{
    const size_t batches = share(lane, lane->run->plan.slots), bins = lane->integrator->bins;
    const size_t slots = batches + lane->run->plan.waiting, batch = lane->run->plan.batch;
    lane->slot_count = slots;
    lane->readers = share(lane, lane->run->plan.readers);
    AIRY_TRY(
        airy_memory_calloc((void **)&lane->patterns, batch, sizeof(lane->patterns[0]), "patterns"));
    AIRY_TRY(
        airy_memory_calloc((void **)&lane->values, batch, 3 * bins * sizeof(float), "patterns"));
    if (lane->run->plan.planes < AIRY_SUM_PLANES)
        AIRY_TRY(airy_memory_calloc((void **)&lane->norms, batch,
                                    AIRY_RUN_NORMS * bins * sizeof(double), "normalizations"));
    if (lane->run->params->roi_count)
        AIRY_TRY(airy_memory_calloc((void **)&lane->regions, batch,
                                    2 * lane->run->params->roi_count * sizeof(double), "regions"));
    AIRY_TRY(airy_memory_calloc((void **)&lane->done_rows, batch, sizeof(lane->done_rows[0]),
                                "patterns"));
    if (lane->run->group > 1 && batch % lane->run->group == 0)
        AIRY_TRY(
            airy_accumulator_create(&lane->group.sums, bins, lane->integrator->params.error_model));
    AIRY_TRY(airy_memory_calloc((void **)&lane->slots, slots, sizeof(lane->slots[0]), "slots"));
    AIRY_TRY(open_queues(lane));
    struct airy_numa_policy before;
    airy_numa_prefer(lane->integrator->device->node, &before);
    airy_status status = open_batches(lane, batches);
    for (size_t i = 0; i < slots && status == AIRY_OK; i++)
        status = open_slot(lane, &lane->slots[i]);
    airy_numa_restore(&before);
    return status == AIRY_OK ? rehearse(lane) : status;
}

void airy_lane_close(struct airy_lane *lane)
{
    /* What is enqueued refers to the slots: it ends before they go. */
    for (size_t i = 0; i < lane->copies; i++)
        (void)airy_queue_finish(lane->up[i]);
    if (lane->compute)
        (void)airy_queue_finish(lane->compute);
    if (lane->down)
        (void)airy_queue_finish(lane->down);
    for (size_t i = 0; lane->slots && i < lane->slot_count; i++)
        close_slot(lane, &lane->slots[i]);
    free(lane->slots);
    lane->slots = NULL;
    close_batches(lane);
    airy_accumulator_destroy(&lane->group.sums);
    free(lane->patterns);
    free(lane->values);
    free(lane->norms);
    free(lane->regions);
    lane->regions = NULL;
    free(lane->done_rows);
    lane->done_rows = NULL;
    lane->patterns = NULL;
    lane->values = NULL;
    lane->norms = NULL;
    for (size_t i = 0; i < lane->copies; i++)
        if (lane->up[i] != lane->compute)
            airy_queue_destroy(&lane->up[i]);
    lane->copies = 0;
    if (lane->down == lane->compute)
        lane->down = NULL;
    airy_queue_destroy(&lane->fetch);
    airy_queue_destroy(&lane->down);
    airy_queue_destroy(&lane->compute);
}

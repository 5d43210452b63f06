#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/numa.h"
#include "base/size.h"
#include "core/backend.h"
#include "core/tuning.h"
#include "engine/run.h"

static airy_status open_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    const struct airy_run *run = lane->run;
    airy_device *device = lane->device;
    const size_t batch = run->plan.batch;
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
    AIRY_TRY(run->work->open_slot(lane, slot));
    AIRY_TRY(airy_event_create(&slot->uploaded, device));
    AIRY_TRY(airy_event_create(&slot->computed, device));
    return airy_event_create(&slot->done, device);
}

static void close_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    airy_event_destroy(&slot->uploaded);
    airy_event_destroy(&slot->computed);
    airy_event_destroy(&slot->done);
    lane->run->work->close_slot(lane, slot);
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
        AIRY_TRY(airy_batch_create(batch, lane->device, &params));
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

/* Frames that the readers had to decode: each by itself, over what the batch left empty. */
static airy_status submit_decoded(struct airy_lane *lane, struct airy_slot *slot)
{
    const airy_stack_info *info = &lane->run->info;
    const size_t shape[3] = {1, info->height, info->width};
    for (size_t i = 0; i < slot->frames; i++) {
        struct airy_frame_fate *fate = &slot->fates[i];
        airy_array *frame = NULL;
        fate->alone = fate->pixels != NULL;
        if (!fate->alone)
            continue;
        airy_status status =
            airy_array_create_from(&frame, lane->compute, info->dtype, 3, shape, fate->pixels);
        if (status == AIRY_OK)
            status = lane->run->work->submit_decoded(lane, slot, i, frame);
        if (status == AIRY_OK)
            status = airy_queue_finish(lane->compute); /* the frame's memory goes */
        airy_array_destroy(&frame);
        free(fate->pixels);
        fate->pixels = NULL;
        AIRY_TRY(status);
    }
    return AIRY_OK;
}

/* What `after` does waits for what is enqueued in `before`, where these are two. */
static airy_status follow(airy_queue *after, airy_queue *before, airy_event *event)
{
    if (after == before)
        return AIRY_OK;
    AIRY_TRY(airy_event_record(event, before));
    AIRY_TRY(airy_queue_flush(before));
    return airy_queue_wait(after, event);
}

/* Enqueue one full slot: a copy up, the work, copies down. */
static airy_status submit_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    const struct airy_work *work = lane->run->work;
    struct airy_chunks chunks;
    airy_queue *up = lane->up[lane->submitted % lane->copies];
    AIRY_TRY(airy_batch_upload(up, slot->batch, &chunks));
    AIRY_TRY(follow(lane->compute, up, slot->uploaded));
    AIRY_TRY(work->submit(lane, slot, &chunks));
    AIRY_TRY(submit_decoded(lane, slot));
    if (work->submit_rest)
        AIRY_TRY(work->submit_rest(lane, slot));
    AIRY_TRY(follow(lane->down, lane->compute, slot->computed));
    if (work->collect && !lane->device->backend->in_place)
        AIRY_TRY(work->collect(lane, slot));
    AIRY_TRY(airy_event_record(slot->done, lane->down));
    return airy_queue_flush(lane->down);
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
    airy_numa_bind(lane->device->node);
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
        const airy_status status = submit_slot(lane, slot);
        if (status != AIRY_OK)
            airy_run_fail(lane, NULL, status);
        pthread_mutex_lock(&run->lock);
        slot->state = AIRY_SLOT_SUBMITTED;
        lane->submitted++;
        if (lane->device->backend->in_place)
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
    airy_numa_bind(lane->device->node);
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
            airy_run_fail(lane, NULL, status);
        pthread_mutex_lock(&run->lock);
        finish_slot(lane, slot);
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

static airy_status open_queues(struct airy_lane *lane)
{
    airy_device *device = lane->device;
    AIRY_TRY(airy_queue_create(&lane->compute, device));
    lane->compute->threads = lane->run->plan.threads;
    if (device->backend->in_place) {
        lane->up[0] = lane->down = lane->compute;
        lane->copies = 1;
        return AIRY_OK;
    }
    const size_t copies = airy_min_size(
        airy_tuned_for(device, AIRY_TUNE_COPIES, lane->run->info.height * lane->run->info.width)
            .current,
        AIRY_RUN_COPIES);
    while (lane->copies < copies) {
        AIRY_TRY(airy_queue_create(&lane->up[lane->copies], device));
        lane->copies++;
    }
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
    const airy_status status = submit_slot(lane, slot);
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
    const size_t batches = share(lane, lane->run->plan.slots);
    const size_t slots = batches + lane->run->plan.waiting;
    lane->slot_count = slots;
    lane->readers = share(lane, lane->run->plan.readers);
    AIRY_TRY(airy_memory_calloc((void **)&lane->slots, slots, sizeof(lane->slots[0]), "slots"));
    AIRY_TRY(open_queues(lane));
    AIRY_TRY(lane->run->work->open_lane(lane));
    struct airy_numa_policy before;
    airy_numa_prefer(lane->device->node, &before);
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
    lane->run->work->close_lane(lane);
    for (size_t i = 0; i < lane->copies; i++)
        if (lane->up[i] != lane->compute)
            airy_queue_destroy(&lane->up[i]);
    lane->copies = 0;
    if (lane->down == lane->compute)
        lane->down = NULL;
    airy_queue_destroy(&lane->down);
    airy_queue_destroy(&lane->compute);
}

#include "engine/run.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/numa.h"
#include "base/size.h"
#include "codec/framing.h"
#include "core/objects.h"

enum {
    READ_PIECE = 256 << 10,
    /*
     * A frame of more bytes is read by several readers: with frames of 18 MB a few slots would
     * leave most of them idle, and more slots leave the processor's cache. Parts fit a core's own
     * cache.
     */
    PARTS_FROM = 4 << 20,
    PART_BYTES = 1 << 20,
    MAX_PARTS = 32,
    SLOW_NS = 250000000
};

static size_t count_parts(size_t size)
{
    if (size <= PARTS_FROM)
        return 1;
    return airy_min_size((size + PART_BYTES - 1) / PART_BYTES, MAX_PARTS);
}

/* Frames of a slot that are in the host's memory stay there, where the device works in that. */
static bool borrow_frames(const struct airy_run *run, struct airy_slot *slot)
{
    const size_t first = airy_run_frame(run->params, slot->rows[0]);
    size_t last = first;
    if (!airy_stack_pixels(run->stack, first))
        return false;
    for (size_t i = 0; i < slot->frames; i++) {
        const size_t frame = airy_run_frame(run->params, slot->rows[i]);
        if (frame < last)
            return false;
        last = frame;
    }
    const size_t size = run->info.height * run->info.width * airy_dtype_size(run->info.dtype);
    return airy_batch_borrow(slot->batch, airy_stack_pixels(run->stack, first),
                             (last + 1 - first) * size);
}

/* Fix places and sizes of the next batch in its slot, where there is room. The lock is held. */
static airy_status start_batch(struct airy_lane *lane, struct airy_slot **started)
{
    struct airy_run *run = lane->run;
    struct airy_slot *slot = airy_lane_take_slot(lane);
    const size_t first = run->next_batch * run->plan.batch;
    slot->number = run->next_batch;
    slot->frames = run->row_count - first < run->plan.batch ? run->row_count - first
                                                            : run->plan.batch;
    slot->rows = run->rows + first;
    slot->taken = slot->filled = slot->part = 0;
    size_t room = run->plan.batch_bytes - AIRY_BATCH_SLACK;
    for (size_t i = 0; i < slot->frames; i++) {
        struct airy_frame_source source;
        airy_stack_source(run->stack, airy_run_frame(run->params, slot->rows[i]), &source);
        const bool fits = source.size <= room;
        struct airy_frame_fate *fate = &slot->fates[i];
        slot->sizes[i] = fits ? source.size : 0;
        room -= slot->sizes[i];
        fate->error.status = AIRY_OK;
        fate->error.text[0] = 0;
        fate->there = fate->walked = 0;
        fate->walking = false;
        fate->chunk = source.kind == AIRY_SOURCE_CHUNK;
        fate->parts = fate->left = fits && airy_source_is_there(&source) ? count_parts(source.size)
                                                                         : 1;
    }
    AIRY_TRY(airy_batch_reserve(slot->batch, slot->frames, slot->sizes));
    if (borrow_frames(run, slot))
        for (size_t i = 0; i < slot->frames; i++)
            slot->fates[i].parts = slot->fates[i].left = 1;
    *started = slot;
    run->next_batch++;
    if (airy_run_ends(run)) /* threads of lanes without a batch may go */
        airy_run_wake(run);
    return AIRY_OK;
}

/* List what was claimed and is not done. The lock is held. */
static void add_rows(struct airy_run *run, size_t first, size_t count)
{
    const size_t groups = airy_run_groups(run);
    run->exhausted = first >= groups || count == 0;
    const size_t end = run->exhausted ? first : first + airy_min_size(count, groups - first);
    for (size_t g = first; g < end; g++) {
        const size_t from = g * run->group, to = airy_min_size(from + run->group, run->total_rows);
        if (run->work->is_done && run->work->is_done(run, g))
            continue;
        /* Not more than there are, whatever the caller hands out. */
        for (size_t row = from; row < to && run->row_count < run->total_rows; row++)
            run->rows[run->row_count++] = row;
    }
}

/*
 * Have the rows of the next batch, as far as there are any. False: there is none, or another
 * reader is asking for them, and wakes this one. The lock is held, but not while asking.
 */
static bool claim_batch(struct airy_run *run)
{
    const size_t begun = run->next_batch * run->plan.batch, want = begun + run->plan.batch;
    if (run->claiming)
        return false;
    run->claiming = true;
    while (run->row_count < want && !run->exhausted && !airy_run_ends(run)) {
        size_t first = 0, count = 0;
        pthread_mutex_unlock(&run->lock);
        const bool proceed = run->params->claim(run->params->claim_user,
                                                airy_max_size(run->plan.batch / run->group, 1),
                                                &first, &count);
        pthread_mutex_lock(&run->lock);
        if (proceed)
            add_rows(run, first, count);
        else
            run->stopped = true;
    }
    run->claiming = false;
    if (run->exhausted)
        run->batches = (run->row_count + run->plan.batch - 1) / run->plan.batch;
    airy_run_wake(run);
    return run->row_count > begun && !airy_run_ends(run);
}

/*
 * A slot with frames that no reader has taken yet, oldest batch first; starts a batch where there
 * is room. NULL: there is none now, or the run has failed. The lock is held.
 */
static struct airy_slot *find_work(struct airy_lane *lane)
{
    struct airy_run *run = lane->run;
    const size_t slots = lane->slot_count;
    for (size_t k = lane->submitted; k < lane->started; k++) {
        struct airy_slot *slot = &lane->slots[k % slots];
        if (slot->state == AIRY_SLOT_FILLING && slot->taken < slot->frames)
            return slot;
    }
    struct airy_slot *slot = NULL;
    if (airy_run_ends(run) || !airy_lane_has_room(lane) ||
        (run->params->claim && !claim_batch(run)))
        return NULL;
    const airy_status status = start_batch(lane, &slot);
    if (status == AIRY_OK) {
        pthread_cond_broadcast(&lane->room);
        return slot;
    }
    pthread_mutex_unlock(&run->lock);
    airy_run_fail(lane, NULL, status);
    pthread_mutex_lock(&run->lock);
    return NULL;
}

/*
 * No room in the batch: for the pixels of a sound chunk in blocks of another size than the stack's,
 * or for a frame much larger than those that the batch was planned by. It is integrated by itself.
 */
static airy_status read_pixels(const struct airy_run *run, size_t frame,
                               struct airy_frame_fate *fate)
{
    const size_t size = run->info.height * run->info.width * airy_dtype_size(run->info.dtype);
    void *pixels = malloc(size);
    AIRY_FAIL_IF(!pixels, AIRY_ERR_MEMORY, "cannot allocate %zu bytes for a frame", size);
    const airy_status status = airy_stack_read(run->stack, frame, pixels, size);
    if (status == AIRY_OK)
        fate->pixels = pixels;
    else
        free(pixels);
    return status;
}

/*
 * A chunk in pieces: the block lengths of each are read while it is in the core's own cache, where
 * a chain of them takes a few ns a block; from the shared one it would take as long as the reading.
 */
static airy_status read_chunk(const struct airy_run *run, struct airy_slot *slot, size_t i,
                              size_t frame, size_t size)
{
    struct airy_chunk_walk walk;
    uint8_t *place = airy_batch_place(slot->batch, i);
    size_t have = 0;
    do {
        const size_t piece = airy_min_size(size - have, READ_PIECE);
        AIRY_TRY(airy_stack_fetch_part(run->stack, frame, place + have, piece, have));
        if (have == 0)
            AIRY_TRY(airy_batch_index_begin(slot->batch, i, size, &walk));
        have += piece;
        AIRY_TRY(airy_batch_index_on(slot->batch, i, &walk, have));
    } while (have < size);
    return AIRY_OK;
}

/* Say which chunk it was; what the stack itself finds wrong says so already. */
static airy_status name_chunk(const struct airy_run *run, size_t frame, airy_status status)
{
    char where[512];
    if (status == AIRY_ERR_CORRUPT &&
        airy_stack_where(run->stack, frame, where, sizeof(where)) == AIRY_OK)
        airy_fail_frame(status, where);
    return status;
}

static airy_status read_frame(const struct airy_run *run, struct airy_slot *slot, size_t i,
                              size_t frame)
{
    struct airy_frame_source source;
    if (airy_batch_borrows(slot->batch)) {
        airy_batch_index_borrowed(slot->batch, i, airy_stack_pixels(run->stack, frame));
        return AIRY_OK;
    }
    airy_stack_source(run->stack, frame, &source);
    AIRY_FAIL_IF(source.size > slot->sizes[i], AIRY_ERR_MEMORY,
                 "the batch has no room for the %zu bytes of frame %zu", source.size, frame);
    if (source.kind == AIRY_SOURCE_CHUNK)
        return name_chunk(run, frame, read_chunk(run, slot, i, frame, source.size));
    AIRY_TRY(airy_stack_fetch(run->stack, frame, airy_batch_place(slot->batch, i), source.size));
    airy_batch_index_stored(slot->batch, i);
    return AIRY_OK;
}

/* Bytes of each part of a frame but the last. */
static size_t part_step(const struct airy_slot *slot, size_t i)
{
    return airy_align_up(slot->sizes[i] / slot->fates[i].parts + 1, 64);
}

/* One of several parts of a frame: only its bytes. */
static airy_status read_part(const struct airy_run *run, struct airy_slot *slot, size_t i,
                             size_t frame, size_t part)
{
    const size_t size = slot->sizes[i], step = part_step(slot, i);
    const size_t from = airy_min_size(part * step, size);
    uint8_t *place = airy_batch_place(slot->batch, i);
    return airy_stack_fetch_part(run->stack, frame, place + from, airy_min_size(step, size - from),
                                 from);
}

/* On through the block lengths, now that the first `parts` parts are there. */
static airy_status walk_parts(const struct airy_run *run, struct airy_slot *slot, size_t i,
                              size_t frame, size_t parts)
{
    struct airy_frame_fate *fate = &slot->fates[i];
    const size_t size = slot->sizes[i], have = airy_min_size(parts * part_step(slot, i), size);
    airy_status status = AIRY_OK;
    if (fate->walked == 0)
        status = airy_batch_index_begin(slot->batch, i, size, &fate->walk);
    if (status == AIRY_OK)
        status = airy_batch_index_on(slot->batch, i, &fate->walk, have);
    return name_chunk(run, frame, status);
}

static void note_failure(struct airy_frame_fate *fate, airy_status status)
{
    (void)airy_error_first(&fate->error, status);
}

/*
 * A part is read: true for whoever finishes the frame. The walk goes along with the reading, so
 * that most of its bytes are in the cache of a core that walks. The lock is held, but not while
 * walking.
 */
static bool join_parts(struct airy_run *run, struct airy_slot *slot, size_t i, size_t frame,
                       size_t part)
{
    struct airy_frame_fate *fate = &slot->fates[i];
    fate->left--;
    fate->there |= (uint64_t)1 << part;
    while (fate->chunk && !fate->walking && fate->error.status == AIRY_OK &&
           fate->walked < fate->parts && fate->there >> fate->walked & 1) {
        size_t parts = fate->walked;
        while (parts < fate->parts && fate->there >> parts & 1)
            parts++;
        fate->walking = true;
        pthread_mutex_unlock(&run->lock);
        const airy_status status = walk_parts(run, slot, i, frame, parts);
        pthread_mutex_lock(&run->lock);
        fate->walking = false;
        fate->walked = parts;
        note_failure(fate, status);
    }
    return fate->left == 0 && !fate->walking;
}

/* The last word on frame i of a slot: what is wrong with it stays with it. */
static void settle(struct airy_lane *lane, struct airy_slot *slot, size_t i, size_t frame,
                   airy_status status)
{
    struct airy_run *run = lane->run;
    struct airy_frame_fate *fate = &slot->fates[i];
    if (status == AIRY_ERR_MEMORY)
        status = read_pixels(run, frame, fate);
    if (status != AIRY_OK) {
        (void)airy_hint_leaving_out(status);
        airy_error_get(&fate->error);
    }
    fate->error.status = status; /* what a part of it lacked room for may be there now */
    if (status == AIRY_OK)
        return;
    airy_batch_index_absent(slot->batch, i);
    if (!airy_status_is_of_frame(status))
        airy_run_fail(lane, slot, status);
}

/* Read a part of a frame; true: it was the last, and the frame is done. The lock is not held. */
static bool fetch(struct airy_lane *lane, struct airy_slot *slot, size_t i, size_t part)
{
    struct airy_run *run = lane->run;
    struct airy_frame_fate *fate = &slot->fates[i];
    const size_t frame = airy_run_frame(run->params, slot->rows[i]);
    if (fate->parts == 1) {
        settle(lane, slot, i, frame, read_frame(run, slot, i, frame));
        return true;
    }
    const airy_status status = read_part(run, slot, i, frame, part);
    pthread_mutex_lock(&run->lock);
    note_failure(fate, status);
    const bool last = join_parts(run, slot, i, frame, part);
    const airy_status all = fate->error.status;
    if (last)
        fate->error.status = AIRY_OK; /* settle() has the last word */
    pthread_mutex_unlock(&run->lock);
    if (last && all != AIRY_OK) {
        fate->error.status = all;
        settle(lane, slot, i, frame, airy_error_restore(&fate->error));
    } else if (last && !fate->chunk)
        airy_batch_index_stored(slot->batch, i);
    return last;
}

/*
 * Files may be slow: whoever waits sees that the run is alive, and stops it though no batch gets
 * done. One of which frames are still to be read is given up then. The lock is held.
 */
static void show_slow_reading(struct airy_run *run, const struct airy_slot *slot)
{
    if (!run->params->progress || airy_clock_ns() - run->shown_ns < SLOW_NS)
        return;
    pthread_mutex_unlock(&run->lock);
    airy_run_show(run);
    pthread_mutex_lock(&run->lock);
    if (run->stopped && !run->failed && slot->taken < slot->frames) {
        run->failed = true;
        run->error.status = AIRY_ERR_CANCELLED;
        airy_run_wake(run);
    }
}

void *airy_run_reader(void *arg)
{
    struct airy_lane *lane = arg;
    struct airy_run *run = lane->run;
    airy_numa_bind(lane->device->node);
    pthread_mutex_lock(&run->lock);
    while (!run->failed) {
        struct airy_slot *slot = find_work(lane);
        if (!slot) {
            if (run->failed || airy_run_ends(run))
                break;
            pthread_cond_wait(&lane->room, &run->lock);
            continue;
        }
        const size_t i = slot->taken, part = slot->part++;
        if (slot->part == slot->fates[i].parts) {
            slot->part = 0;
            slot->taken++;
        }
        pthread_mutex_unlock(&run->lock);
        const bool done = fetch(lane, slot, i, part);
        pthread_mutex_lock(&run->lock);
        if (done && ++slot->filled == slot->frames) {
            slot->state = AIRY_SLOT_FULL;
            pthread_cond_signal(&lane->full);
        }
        if (slot->state == AIRY_SLOT_FILLING)
            show_slow_reading(run, slot);
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

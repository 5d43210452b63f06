#include "engine/run.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/numa.h"
#include "base/size.h"
#include "core/objects.h"

void airy_run_wake(struct airy_run *run)
{
    for (size_t i = 0; i < run->team.lanes; i++) {
        pthread_cond_broadcast(&run->lanes[i].room);
        pthread_cond_broadcast(&run->lanes[i].full);
        pthread_cond_broadcast(&run->lanes[i].sent);
        pthread_cond_broadcast(&run->lanes[i].made);
    }
    if (run->feed)
        pthread_cond_broadcast(&run->feed->room);
}

bool airy_run_ends(const struct airy_run *run)
{
    return run->failed || run->stopped || run->bad_batch != SIZE_MAX ||
           run->next_batch == run->batches;
}

void airy_run_end(struct airy_run *run, size_t batch, airy_status status, bool at_once)
{
    if (run->failed || batch > run->bad_batch)
        return;
    run->failed = at_once;
    run->bad_batch = at_once ? run->bad_batch : batch;
    airy_error_get(&run->error);
    run->error.status = status;
    airy_run_wake(run);
}

void airy_run_fail(struct airy_lane *lane, const struct airy_slot *slot, airy_status status)
{
    struct airy_run *run = lane->run;
    if (run->team.count > 1)
        airy_fail_context(status, "device %s", airy_device_spec(lane->device));
    pthread_mutex_lock(&run->lock);
    airy_run_end(run, slot ? slot->number : 0, status, true);
    pthread_mutex_unlock(&run->lock);
}

void airy_run_where(const struct airy_run *run, size_t frame, char *where, size_t size)
{
    *where = 0;
    if (!run->stack)
        snprintf(where, size, "frame %zu", frame);
    else
        (void)airy_stack_where(run->stack, frame, where, size);
}

bool airy_run_frame_is_bad(const struct airy_run *run, const struct airy_slot *slot, size_t i,
                           uint32_t status, airy_error *error)
{
    const struct airy_frame_fate *fate = &slot->fates[i];
    if (fate->error.status != AIRY_OK) {
        *error = fate->error;
        return true;
    }
    if (fate->alone || status == AIRY_FRAME_GOOD)
        return false;
    char where[512];
    airy_run_where(run, airy_run_frame(run->params, slot->rows[i]), where, sizeof(where));
    (void)airy_hint_leaving_out(airy_fail_on(AIRY_ERR_CORRUPT, AIRY_SUBJECT_FRAME, "%s: %s", where,
                                             airy_frame_error(status)));
    airy_error_get(error);
    return true;
}

airy_status airy_run_mark_bad(struct airy_run *run, size_t row, const airy_error *error,
                              struct airy_tally *tally)
{
    if (!tally->bad) {
        tally->bad_row = row;
        snprintf(tally->message, sizeof(tally->message), "%.767s", error->text);
    }
    tally->bad++;
    tally->lost += error->status == AIRY_ERR_NOT_FOUND;
    /* What an ended series never wrote is no damage: its rows say that they are missing. */
    tally->ends = !run->skip_bad && error->status != AIRY_ERR_UNWRITTEN;
    if (tally->ends)
        return airy_error_restore(error);
    airy_message(&run->messages, AIRY_LOG_WARN, "frame %zu %s: %s",
                 airy_run_frame(run->params, row),
                 run->work && run->work->bad ? run->work->bad : "was left out", error->text);
    return AIRY_OK;
}

void airy_run_note_bad(airy_run_info *out, size_t row, const char *sentence)
{
    if (out->first_error[0] && row >= out->first_bad)
        return;
    out->first_bad = row;
    snprintf(out->first_error, sizeof(out->first_error), "%.511s", sentence);
}

void airy_run_book(struct airy_run *run, const struct airy_tally *tally)
{
    airy_run_info *out = run->out;
    if (tally->bad)
        airy_run_note_bad(out, tally->bad_row, tally->message);
    out->frames += tally->frames;
    if (tally->frames) { /* none: the file did not take them */
        out->bad += tally->ends ? tally->bad - 1 : tally->bad;
        if (run->feed)
            run->feed->lost += tally->lost;
    }
    if (tally->empty) {
        const size_t frame = airy_run_frame(run->params, tally->empty_row);
        out->first_empty = out->empty ? airy_min_size(out->first_empty, frame) : frame;
        out->empty += tally->empty;
    }
    out->stored_bytes += tally->stored;
    out->max = fmax(out->max, tally->max);
}

void airy_run_show(struct airy_run *run)
{
    if (!run->params->progress)
        return;
    pthread_mutex_lock(&run->progress_lock);
    pthread_mutex_lock(&run->lock);
    const size_t done = run->resumed + run->out->frames, total = run->resumed + run->row_count;
    run->shown_ns = airy_clock_ns();
    pthread_mutex_unlock(&run->lock);
    const bool proceed = run->params->progress(run->params->user, done, total);
    if (!proceed) {
        pthread_mutex_lock(&run->lock);
        run->stopped = true;
        airy_run_wake(run);
        pthread_mutex_unlock(&run->lock);
    }
    pthread_mutex_unlock(&run->progress_lock);
}

/* Results of a slot to where they go. The lock is not held. */
static void take_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    struct airy_run *run = lane->run;
    struct airy_tally tally = {0};
    const airy_status status = run->work->take(lane, slot, &tally);
    pthread_mutex_lock(&run->lock);
    airy_run_book(run, &tally);
    if (run->work->booked)
        run->work->booked(lane, slot, &tally);
    const bool ends = tally.ends || tally.refused;
    if (status != AIRY_OK && ends)
        airy_run_end(run, slot->number, status, false);
    pthread_mutex_unlock(&run->lock);
    if (status != AIRY_OK && !ends)
        airy_run_fail(lane, slot, status);
    else if (status == AIRY_OK)
        airy_run_show(run);
}

/* A row that was spoiled after it was written. The lock is held, and given back meanwhile. */
static void mend_row(struct airy_lane *lane)
{
    struct airy_run *run = lane->run;
    pthread_mutex_unlock(&run->lock);
    const airy_status status = run->feed->mend(run->feed->user);
    if (status != AIRY_OK)
        airy_run_fail(lane, NULL, status);
    pthread_mutex_lock(&run->lock);
}

void *airy_run_writer(void *arg)
{
    struct airy_lane *lane = arg;
    struct airy_run *run = lane->run;
    airy_numa_bind(lane->device->node);
    pthread_mutex_lock(&run->lock);
    const size_t writer = lane->writers++;
    for (;;) {
        struct airy_slot *slot = &lane->slots[lane->claimed % lane->slot_count];
        const bool begun = lane->claimed < lane->started;
        if (run->failed || (!begun && airy_run_ends(run)))
            break;
        if (run->feed && run->feed->due) {
            mend_row(lane);
            continue;
        }
        const bool in_turn = !run->in_turn || run->turn == slot->number ||
                             slot->number >= run->bad_batch;
        if (!begun || slot->state != AIRY_SLOT_DONE || !in_turn) {
            pthread_cond_wait(&lane->made, &run->lock);
            continue;
        }
        lane->claimed++;
        if (slot->number < run->bad_batch) {
            slot->writer = writer;
            pthread_mutex_unlock(&run->lock);
            take_slot(lane, slot);
            pthread_mutex_lock(&run->lock);
            run->turn++;
            if (run->in_turn)
                airy_run_wake(run);
        }
        slot->state = AIRY_SLOT_FREE;
        lane->written++;
        pthread_cond_broadcast(&lane->room);
        if (run->feed)
            pthread_cond_broadcast(&run->feed->room);
    }
    pthread_cond_broadcast(&lane->made); /* the lane's other writers have nothing to do either */
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

#include "pipeline/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/numa.h"
#include "base/size.h"
#include "core/objects.h"
#include "integrate/integrator.h"

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

void airy_run_fail(struct airy_lane *lane, airy_status status)
{
    struct airy_run *run = lane->run;
    if (run->team.count > 1)
        airy_fail_context(status, "device %s", airy_device_spec(lane->integrator->device));
    pthread_mutex_lock(&run->lock);
    if (!run->failed) {
        run->failed = true;
        airy_error_get(&run->error);
        run->error.status = status;
    }
    airy_run_wake(run);
    pthread_mutex_unlock(&run->lock);
}

/* Why a frame is bad, or NULL. error: room for its record. */
static const char *frame_problem(struct airy_run *run, const struct airy_slot *slot, size_t i,
                                 size_t frame, const airy_frame_stats *stats, airy_error *error)
{
    const struct airy_frame_fate *fate = &slot->fates[i];
    if (fate->error.status != AIRY_OK) {
        *error = fate->error;
        return error->text;
    }
    const double *monitor = run->params->monitor;
    if (stats->status == AIRY_FRAME_GOOD && (!monitor || airy_monitor_is_usable(monitor[frame])))
        return NULL;
    char where[512] = "";
    if (!run->stack)
        snprintf(where, sizeof(where), "frame %zu", frame);
    else
        (void)airy_stack_where(run->stack, frame, where, sizeof(where));
    if (stats->status != AIRY_FRAME_GOOD)
        (void)airy_fail_on(AIRY_ERR_CORRUPT, AIRY_SUBJECT_FRAME, "%s: %s", where,
                           airy_frame_error(stats->status));
    else
        (void)airy_fail_on(AIRY_ERR_CORRUPT, AIRY_SUBJECT_FRAME,
                           "%s: its monitor is %g, expected a finite number above 0", where,
                           monitor[frame]);
    airy_error_get(error);
    return error->text;
}

/* What the writer has done with a slot, for the run's books. */
struct tally {
    size_t frames, bad, lost; /* lost: of the bad ones, given up */
    bool ends;                /* one of them ends the run */
    uint64_t stored;          /* bytes of the good ones */
    double max;               /* largest pixel of the good ones */
    size_t empty, empty_row;  /* good frames in which no pixel counts; the first of them */
    size_t bad_row;           /* the first; message says why */
    char message[768];
};

/* Note a bad frame. Fails where such a frame ends the run. */
static airy_status mark_bad(struct airy_run *run, size_t row, const airy_error *error,
                            struct tally *tally)
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
    airy_message(&run->messages, AIRY_LOG_WARN, "frame %zu was left out: %s",
                 airy_run_frame(run->params, row), error->text);
    return AIRY_OK;
}

/* Where a slot's results are on the host. */
struct results {
    double *sums; /* [batch][planes][bins] */
    size_t planes;
    const airy_frame_stats *stats; /* [batch] */
};

static struct results find_results(const struct airy_lane *lane, const struct airy_slot *slot)
{
    const struct airy_run_plan *plan = &lane->run->plan;
    const bool copied = slot->host_results != NULL;
    void *data = copied ? airy_host_data(slot->host_results) : airy_array_address(slot->results);
    struct results r = {.sums = data, .planes = copied ? plan->planes : AIRY_SUM_PLANES};
    r.stats = (const void *)(r.sums + plan->batch * r.planes * lane->integrator->bins);
    return r;
}

/* The planes of frame i that were left on the device. */
static airy_status fetch_norms(struct airy_lane *lane, const struct airy_slot *slot, size_t i)
{
    const size_t bins = lane->integrator->bins, start[3] = {i, AIRY_SUM_NORMALIZATION, 0},
                 shape[3] = {1, AIRY_RUN_NORMS, bins}, size = AIRY_RUN_NORMS * bins;
    airy_array *planes = NULL;
    AIRY_TRY(airy_array_view(&planes, slot->sums, start, shape));
    airy_status status =
        airy_array_pull(lane->fetch, lane->norms + i * size, size * sizeof(double), planes);
    airy_array_destroy(&planes);
    return status == AIRY_OK ? airy_queue_finish(lane->fetch) : status;
}

/* A frame on its way from the slot to the file. */
struct taken {
    size_t i, row; /* in the slot; of the run */
    double *sums;  /* [planes][bins] */
    bool whole;    /* all planes are there, and its own */
    airy_frame_stats stats;
    const char *problem; /* the error's sentence; NULL: it is good */
    airy_error error;
};

static airy_status take_frame(struct airy_lane *lane, struct airy_slot *slot, struct taken *taken,
                              struct tally *tally)
{
    struct airy_run *run = lane->run;
    const struct results results = find_results(lane, slot);
    taken->sums = results.sums + taken->i * results.planes * lane->integrator->bins;
    taken->stats = results.stats[taken->i];
    taken->problem = frame_problem(run, slot, taken->i, airy_run_frame(run->params, taken->row),
                                   &taken->stats, &taken->error);
    taken->whole = run->plan.planes == AIRY_SUM_PLANES ||
                   (results.planes == AIRY_SUM_PLANES && (taken->stats.invalid || taken->problem));
    return taken->problem ? mark_bad(run, taken->row, &taken->error, tally) : AIRY_OK;
}

static double monitor_of(const struct airy_run *run, size_t row)
{
    const double *monitor = run->params->monitor;
    return monitor ? monitor[airy_run_frame(run->params, row)] : 1.0;
}

/* Row k of those made, which is `row` of the file, with the sums of a frame or a group. */
static struct airy_pattern_row *begin_row(struct airy_lane *lane, size_t k, size_t row,
                                          const struct taken *taken)
{
    const airy_integrator *it = lane->integrator;
    const size_t bins = it->bins;
    const bool errors = it->params.error_model != AIRY_ERROR_MODEL_NONE;
    float *intensity = lane->values + k * 3 * bins;
    struct airy_pattern_row *pattern = &lane->patterns[k];
    lane->done_rows[k] = row;
    *pattern = (struct airy_pattern_row){
        .intensity = intensity,
        .std = errors ? intensity + bins : NULL,
        .sem = errors ? intensity + 2 * bins : NULL,
        .signal = taken->sums,
        .variance = errors ? taken->sums + AIRY_SUM_VARIANCE * bins : NULL,
        .norms = taken->whole ? taken->sums + AIRY_SUM_NORMALIZATION * bins
                              : it->base_normalization,
        .stats = taken->stats};
    return pattern;
}

/* Signal and mean of each region of row k, from what it has; not good: there are none. */
static airy_status add_regions(struct airy_lane *lane, size_t k, bool good)
{
    const struct airy_run *run = lane->run;
    const size_t count = run->params->roi_count;
    if (count == 0)
        return AIRY_OK;
    double *sum = lane->regions + k * 2 * count, *mean = sum + count;
    const struct airy_pattern_row *pattern = &lane->patterns[k];
    const double *const planes[3] = {pattern->signal, pattern->norms,
                                     pattern->norms + 2 * lane->integrator->bins};
    for (size_t i = 0; i < count; i++) {
        sum[i] = mean[i] = (double)NAN;
        if (good)
            AIRY_TRY(
                airy_roi_sum_planes(&sum[i], &mean[i], planes, &run->axes, &run->params->rois[i]));
    }
    lane->patterns[k].roi_sum = sum;
    lane->patterns[k].roi_mean = mean;
    return AIRY_OK;
}

static airy_status finish_row(struct airy_lane *lane, struct airy_slot *slot, size_t k,
                              const struct taken *taken, double monitor)
{
    const airy_integrator *it = lane->integrator;
    struct airy_pattern_row *pattern = &lane->patterns[k];
    float *intensity = lane->values + k * 3 * it->bins, *std = intensity + it->bins,
          *sem = std + it->bins;
    if (taken->whole) {
        AIRY_TRY(airy_integrator_finish(it, taken->sums, monitor, intensity,
                                        pattern->std ? std : NULL, pattern->sem ? sem : NULL));
        return add_regions(lane, k, true);
    }
    if (pattern->stats.invalid) {
        AIRY_TRY(fetch_norms(lane, slot, taken->i));
        pattern->norms = lane->norms + taken->i * AIRY_RUN_NORMS * it->bins;
    }
    airy_divide((struct airy_division){.signal = pattern->signal,
                                       .variance = pattern->variance,
                                       .norms = pattern->norms,
                                       .intensity = intensity,
                                       .std = std,
                                       .sem = sem,
                                       .bins = it->bins,
                                       .empty = (float)it->params.empty},
                it->device->pool);
    return add_regions(lane, k, true);
}

/* A row without a good frame. */
static airy_status spoil_row(struct airy_lane *lane, size_t k, const struct taken *taken,
                             const char *message)
{
    const size_t bins = lane->integrator->bins;
    struct airy_pattern_row *pattern = &lane->patterns[k];
    float *values = lane->values + k * 3 * bins;
    pattern->message = message;
    memset(taken->sums, 0,
           (taken->whole ? AIRY_SUM_PLANES : lane->run->plan.planes) * bins * sizeof(double));
    if (!taken->whole) {
        double *none = lane->norms + taken->i * AIRY_RUN_NORMS * bins;
        pattern->norms = memset(none, 0, AIRY_RUN_NORMS * bins * sizeof(double));
    }
    if (pattern->stats.status == AIRY_FRAME_GOOD)
        pattern->stats.status = 0;
    for (size_t b = 0; b < 3 * bins; b++)
        values[b] = NAN;
    return add_regions(lane, k, false);
}

/* A row of one frame. */
static airy_status make_row(struct airy_lane *lane, struct airy_slot *slot,
                            const struct taken *taken, size_t k)
{
    begin_row(lane, k, taken->row, taken);
    if (!taken->problem)
        return finish_row(lane, slot, k, taken, monitor_of(lane->run, taken->row));
    struct airy_frame_fate *fate = &slot->fates[taken->i];
    snprintf(fate->error.text, sizeof(fate->error.text), "%.255s", taken->problem);
    return spoil_row(lane, k, taken, fate->error.text);
}

/* A row of a group whose last frame is this one; its sums take the place of the frame's. */
static airy_status make_group(struct airy_lane *lane, struct airy_slot *slot,
                              const struct taken *taken, const struct airy_group *group, size_t k)
{
    const struct airy_run *run = lane->run;
    const size_t frames = airy_accumulator_frames(group->sums);
    char *message = slot->fates[taken->i].error.text;
    struct airy_pattern_row *pattern = begin_row(lane, k, taken->row / run->group, taken);
    pattern->frames = (uint32_t)airy_min_size(frames, UINT32_MAX);
    AIRY_TRY(airy_accumulator_get(group->sums, run->params->merge, taken->sums, &pattern->stats));
    if (group->bad) {
        snprintf(message, sizeof(slot->fates[0].error.text),
                 "%zu of %zu frames left out, the first: %s", group->bad, group->bad + frames,
                 group->message);
        pattern->message = message;
    }
    if (frames)
        return finish_row(lane, slot, k, taken, 1);
    return spoil_row(lane, k, taken, message);
}

/* A frame of a group; *count grows with the group's last one. */
static airy_status add_to_group(struct airy_lane *lane, struct airy_slot *slot,
                                const struct taken *taken, size_t *count)
{
    struct airy_run *run = lane->run;
    struct airy_group *group = run->in_turn ? &run->spread : &lane->group;
    if (taken->row % run->group == 0) {
        airy_accumulator_clear(group->sums);
        group->bad = 0;
    }
    if (!taken->problem)
        AIRY_TRY(airy_accumulator_add(group->sums, taken->sums, &taken->stats,
                                      monitor_of(run, taken->row)));
    else if (group->bad++ == 0)
        snprintf(group->message, sizeof(group->message), "%.159s", taken->problem);
    if ((taken->row + 1) % run->group != 0 && taken->row + 1 != run->total_rows)
        return AIRY_OK;
    AIRY_TRY(make_group(lane, slot, taken, group, *count));
    ++*count;
    return AIRY_OK;
}

/* No pixel of a good frame counts; looked at where its statistics leave that open. */
static void note_empty(struct tally *tally, const struct taken *taken, const double *counts,
                       size_t bins)
{
    size_t i = 0;
    if (taken->problem || taken->stats.max != 0 || taken->stats.invalid == 0)
        return;
    while (i < bins && counts[i] == 0)
        i++;
    if (i < bins)
        return;
    if (tally->empty++ == 0)
        tally->empty_row = taken->row;
}

/* Rows that are made go to the file, neighbours together. */
static airy_status flush_rows(struct airy_lane *lane, size_t end)
{
    const struct airy_run *run = lane->run;
    const size_t *rows = lane->done_rows;
    size_t first = 0;
    while ((run->file || run->growing) && first < end) {
        size_t next = first + 1;
        while (next < end && rows[next] == rows[next - 1] + 1)
            next++;
        const struct airy_pattern_row *some = &lane->patterns[first];
        AIRY_TRY(run->growing
                     ? airy_pattern_growing_write(run->growing, rows[first], some, next - first)
                     : airy_pattern_file_write_rows(run->file, rows[first], some, next - first));
        first = next;
    }
    return AIRY_OK;
}

static airy_status write_slot(struct airy_lane *lane, struct airy_slot *slot, struct tally *tally)
{
    const struct airy_feed *feed = lane->run->feed;
    airy_status made = AIRY_OK;
    size_t count = 0, frames = 0; /* rows made of frames taken */
    const size_t bins = lane->integrator->bins;
    uint64_t stored = 0;
    airy_error error = {.status = AIRY_OK};
    if (feed && feed->taken)
        feed->taken(feed->user, slot);
    while (made == AIRY_OK && frames < slot->frames) {
        struct taken taken = {.i = frames, .row = slot->rows[frames]};
        made = take_frame(lane, slot, &taken, tally);
        if (made == AIRY_OK && lane->run->group > 1) {
            note_empty(tally, &taken, taken.sums + AIRY_SUM_COUNT_PLANE * bins, bins);
            made = add_to_group(lane, slot, &taken, &count);
        } else if (made == AIRY_OK) {
            made = make_row(lane, slot, &taken, count);
            if (made == AIRY_OK)
                note_empty(tally, &taken, lane->patterns[count++].norms + 2 * bins, bins);
        }
        if (made == AIRY_OK && !taken.problem) {
            stored += slot->sizes[frames];
            tally->max = fmax(tally->max, taken.stats.max);
        }
        frames += made == AIRY_OK;
    }
    (void)airy_error_first(&error, made);
    if (feed && feed->made)
        feed->made(feed->user, slot, lane->patterns, count);
    AIRY_TRY(flush_rows(lane, count));
    tally->frames = frames;
    tally->stored = stored;
    return made == AIRY_OK ? AIRY_OK : airy_error_restore(&error);
}

void airy_run_note_bad(airy_run_info *out, size_t row, const char *sentence)
{
    if (out->first_error[0] && row >= out->first_bad)
        return;
    out->first_bad = row;
    snprintf(out->first_error, sizeof(out->first_error), "%.511s", sentence);
}

/* Enter what was done into the books of the run. The lock is held. */
static void book(struct airy_run *run, const struct tally *tally)
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

/* A frame of this batch ends the run, when those before are done. The lock is held. */
static void end_by(struct airy_run *run, size_t batch, const airy_error *error)
{
    if (run->failed || batch > run->bad_batch)
        return;
    run->bad_batch = batch;
    run->error = *error;
    airy_run_wake(run);
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

/* Results of a slot into the file. The lock is not held. */
static void take_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    struct airy_run *run = lane->run;
    struct tally tally = {0};
    const airy_status status = write_slot(lane, slot, &tally);
    airy_error error = {.status = AIRY_OK};
    (void)airy_error_first(&error, status);
    pthread_mutex_lock(&run->lock);
    book(run, &tally);
    if (run->feed && run->feed->written)
        run->feed->written(run->feed->user, slot, lane->patterns, tally.frames);
    if (status != AIRY_OK && tally.ends)
        end_by(run, slot->number, &error);
    pthread_mutex_unlock(&run->lock);
    if (status != AIRY_OK && !tally.ends)
        airy_run_fail(lane, status);
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
        airy_run_fail(lane, status);
    pthread_mutex_lock(&run->lock);
}

void *airy_run_writer(void *arg)
{
    struct airy_lane *lane = arg;
    struct airy_run *run = lane->run;
    airy_numa_bind(lane->integrator->device->node);
    pthread_mutex_lock(&run->lock);
    for (;;) {
        struct airy_slot *slot = &lane->slots[lane->written % lane->slot_count];
        const bool begun = lane->written < lane->started;
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
        if (slot->number < run->bad_batch) {
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
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

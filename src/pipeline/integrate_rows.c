/* Rows of patterns from the sums of frames, and to the file. */
#include "pipeline/integrate_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "core/objects.h"
#include "integrate/integrator.h"

/* What the writer that has the slot works with. */
static struct integrate_lane *of_writer(const struct airy_lane *lane, const struct airy_slot *slot)
{
    return (struct integrate_lane *)lane->work + slot->writer;
}

/* Where a slot's results are on the host. */
struct results {
    double *sums; /* [batch][planes][bins] */
    size_t planes;
    const airy_frame_stats *stats; /* [batch] */
};

static struct results find_results(const struct airy_lane *lane, const struct airy_slot *slot)
{
    const struct integrate_slot *s = slot->work;
    const struct integrate_lane *own = lane->work;
    const bool copied = s->host_results != NULL;
    void *data = copied ? airy_host_data(s->host_results) : airy_array_address(s->results);
    struct results r = {.sums = data, .planes = copied ? own->job->planes : AIRY_SUM_PLANES};
    r.stats = (const void *)(r.sums + lane->run->plan.batch * r.planes * own->integrator->bins);
    return r;
}

/* The planes of frame i that were left on the device. */
static airy_status fetch_norms(struct integrate_lane *lane, const struct airy_slot *slot, size_t i)
{
    const struct integrate_slot *s = slot->work;
    const size_t bins = lane->integrator->bins, start[3] = {i, AIRY_SUM_NORMALIZATION, 0},
                 shape[3] = {1, AIRY_RUN_NORMS, bins}, size = AIRY_RUN_NORMS * bins;
    airy_array *planes = NULL;
    AIRY_TRY(airy_array_view(&planes, s->sums, start, shape));
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

/* Whether a frame is bad; also where it cannot be normalized. */
static bool is_bad(const struct airy_run *run, const struct airy_slot *slot, struct taken *taken)
{
    const double *monitor = run->params->monitor;
    const size_t frame = airy_run_frame(run->params, taken->row);
    if (airy_run_frame_is_bad(run, slot, taken->i, taken->stats.status, &taken->error))
        return true;
    if (!monitor || airy_monitor_is_usable(monitor[frame]))
        return false;
    char where[512];
    airy_run_where(run, frame, where, sizeof(where));
    (void)airy_fail_on(AIRY_ERR_CORRUPT, AIRY_SUBJECT_FRAME,
                       "%s: its monitor is %g, expected a finite number above 0", where,
                       monitor[frame]);
    airy_error_get(&taken->error);
    return true;
}

static airy_status take_frame(struct airy_lane *lane, struct airy_slot *slot, struct taken *taken,
                              struct airy_tally *tally)
{
    struct airy_run *run = lane->run;
    const struct integrate_lane *own = lane->work;
    const struct results results = find_results(lane, slot);
    taken->sums = results.sums + taken->i * results.planes * own->integrator->bins;
    taken->stats = results.stats[taken->i];
    taken->problem = is_bad(run, slot, taken) ? taken->error.text : NULL;
    taken->whole = own->job->planes == AIRY_SUM_PLANES ||
                   (results.planes == AIRY_SUM_PLANES && (taken->stats.invalid || taken->problem));
    return taken->problem ? airy_run_mark_bad(run, taken->row, &taken->error, tally) : AIRY_OK;
}

static double monitor_of(const struct airy_run *run, size_t row)
{
    const double *monitor = run->params->monitor;
    return monitor ? monitor[airy_run_frame(run->params, row)] : 1.0;
}

/* Row k of those made, which is `row` of the file, with the sums of a frame or a group. */
static struct airy_pattern_row *begin_row(struct integrate_lane *lane, size_t k, size_t row,
                                          const struct taken *taken)
{
    const airy_integrator *it = lane->integrator;
    const size_t bins = it->bins;
    const bool errors = it->params.error_model != AIRY_ERROR_MODEL_NONE;
    float *intensity = lane->values + k * 3 * bins;
    struct airy_pattern_row *pattern = &lane->patterns[k];
    lane->done[k] = (struct integrate_done){row, taken->problem ? taken->error.status : AIRY_OK};
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
static airy_status add_regions(struct integrate_lane *lane, size_t k, bool good)
{
    const struct airy_run *run = &lane->job->run;
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
            AIRY_TRY(airy_roi_sum_planes(&sum[i], &mean[i], planes, &lane->job->axes,
                                         &run->params->rois[i]));
    }
    lane->patterns[k].roi_sum = sum;
    lane->patterns[k].roi_mean = mean;
    return AIRY_OK;
}

static airy_status finish_row(struct integrate_lane *lane, struct airy_slot *slot, size_t k,
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
static airy_status spoil_row(struct integrate_lane *lane, size_t k, const struct taken *taken,
                             const char *message)
{
    const size_t bins = lane->integrator->bins;
    struct airy_pattern_row *pattern = &lane->patterns[k];
    float *values = lane->values + k * 3 * bins;
    pattern->message = message;
    memset(taken->sums, 0,
           (taken->whole ? AIRY_SUM_PLANES : lane->job->planes) * bins * sizeof(double));
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
static airy_status make_row(struct integrate_lane *lane, struct airy_slot *slot,
                            const struct taken *taken, size_t k)
{
    begin_row(lane, k, taken->row, taken);
    if (!taken->problem)
        return finish_row(lane, slot, k, taken, monitor_of(&lane->job->run, taken->row));
    struct airy_frame_fate *fate = &slot->fates[taken->i];
    snprintf(fate->error.text, sizeof(fate->error.text), "%.255s", taken->problem);
    return spoil_row(lane, k, taken, fate->error.text);
}

/* A row of a group whose last frame is this one; its sums take the place of the frame's. */
static airy_status make_group(struct integrate_lane *lane, struct airy_slot *slot,
                              const struct taken *taken, const struct integrate_group *group,
                              size_t k)
{
    const struct airy_run *run = &lane->job->run;
    const size_t frames = airy_accumulator_frames(group->sums);
    char *message = slot->fates[taken->i].error.text;
    struct airy_pattern_row *pattern = begin_row(lane, k, taken->row / run->group, taken);
    lane->done[k].status = frames ? AIRY_OK : group->status;
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
static airy_status add_to_group(struct integrate_lane *lane, struct airy_slot *slot,
                                const struct taken *taken, size_t *count)
{
    struct airy_run *run = &lane->job->run;
    struct integrate_group *group = run->in_turn ? &lane->job->spread : &lane->group;
    if (taken->row % run->group == 0) {
        airy_accumulator_clear(group->sums);
        group->bad = 0;
    }
    if (!taken->problem)
        AIRY_TRY(airy_accumulator_add(group->sums, taken->sums, &taken->stats,
                                      monitor_of(run, taken->row)));
    else if (group->bad++ == 0) {
        group->status = taken->error.status;
        snprintf(group->message, sizeof(group->message), "%.159s", taken->problem);
    }
    if ((taken->row + 1) % run->group != 0 && taken->row + 1 != run->total_rows)
        return AIRY_OK;
    AIRY_TRY(make_group(lane, slot, taken, group, *count));
    ++*count;
    return AIRY_OK;
}

/* No pixel of a good frame counts; looked at where its statistics leave that open. */
static void note_empty(struct airy_tally *tally, const struct taken *taken, const double *counts,
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
static airy_status flush_rows(const struct integrate_lane *lane, size_t end)
{
    const struct airy_integrate_job *job = lane->job;
    size_t first = 0;
    while ((job->file || job->growing) && first < end) {
        const size_t row = lane->done[first].number;
        size_t next = first + 1;
        while (next < end && lane->done[next].number == row + next - first)
            next++;
        const struct airy_pattern_row *some = &lane->patterns[first];
        AIRY_TRY(job->growing ? airy_pattern_growing_write(job->growing, row, some, next - first)
                              : airy_pattern_file_write_rows(job->file, row, some, next - first));
        first = next;
    }
    return AIRY_OK;
}

/* Row k of those made, as callers see it. */
static airy_run_row describe_row(const struct integrate_lane *lane, size_t k)
{
    const struct airy_run *run = &lane->job->run;
    const struct airy_pattern_row *pattern = &lane->patterns[k];
    const struct integrate_done *done = &lane->done[k];
    const size_t bins = lane->integrator->bins;
    return (airy_run_row){
        .number = done->number,
        .frame = airy_run_frame(run->params, done->number * run->group),
        .frames = run->group > 1 ? pattern->frames : done->status == AIRY_OK,
        .bins = bins,
        .intensity = pattern->intensity,
        .std = pattern->std,
        .sem = pattern->sem,
        .signal = pattern->signal,
        .variance = pattern->variance,
        .normalization = pattern->norms,
        .normalization2 = pattern->norms + bins,
        .count = pattern->norms + 2 * bins,
        .monitor = run->group > 1 ? 1 : monitor_of(run, done->number),
        .stats = pattern->stats,
        .status = done->status,
        .message = pattern->message ? pattern->message : "",
    };
}

static void copy_plane(void *array, size_t row, const void *plane, size_t size)
{
    if (array)
        memcpy((char *)array + row * size, plane, size);
}

static void fill_arrays(const airy_row_arrays *arrays, const airy_run_row *row)
{
    const size_t f32 = row->bins * sizeof(float), f64 = row->bins * sizeof(double);
    copy_plane(arrays->intensity, row->number, row->intensity, f32);
    copy_plane(arrays->std, row->number, row->std, f32);
    copy_plane(arrays->sem, row->number, row->sem, f32);
    copy_plane(arrays->signal, row->number, row->signal, f64);
    copy_plane(arrays->variance, row->number, row->variance, f64);
    copy_plane(arrays->normalization, row->number, row->normalization, f64);
    copy_plane(arrays->normalization2, row->number, row->normalization2, f64);
    copy_plane(arrays->count, row->number, row->count, f64);
    copy_plane(arrays->frames, row->number, &row->frames, sizeof(row->frames));
    copy_plane(arrays->stats, row->number, &row->stats, sizeof(row->stats));
    copy_plane(arrays->status, row->number, &row->status, sizeof(row->status));
}

void airy_integrate_clear_arrays(const struct airy_integrate_job *job)
{
    const airy_row_arrays *arrays = job->run.params->arrays;
    const size_t rows = airy_run_groups(&job->run);
    for (size_t i = 0; arrays && arrays->status && i < rows; i++)
        arrays->status[i] = AIRY_ERR_INCOMPLETE;
}

/* The caller's function may leave no record of its failure, and an older one is of another row. */
static airy_status give_row(const airy_run_params *params, const airy_run_row *row)
{
    airy_error error;
    airy_error_clear();
    const airy_status status = params->row(params->row_user, row);
    if (status == AIRY_OK)
        return AIRY_OK;
    airy_error_get(&error);
    return error.status != AIRY_OK ? status
                                   : airy_fail(status, "row %zu was not taken", row->number);
}

/* Rows that are made go to the caller. A failure is the caller's, and ends the run. */
static airy_status hand_on_rows(struct integrate_lane *lane, size_t end, struct airy_tally *tally)
{
    struct airy_run *run = &lane->job->run;
    const airy_run_params *params = run->params;
    airy_status status = AIRY_OK;
    for (size_t k = 0; (params->arrays || params->row) && k < end && status == AIRY_OK; k++) {
        const airy_run_row row = describe_row(lane, k);
        if (params->arrays)
            fill_arrays(params->arrays, &row);
        if (params->row)
            status = give_row(params, &row);
    }
    if (status == AIRY_ERR_CANCELLED) {
        pthread_mutex_lock(&run->lock);
        run->stopped = true;
        pthread_mutex_unlock(&run->lock);
    } else if (status != AIRY_OK) {
        tally->refused = true;
    }
    return status;
}

/* Rows of a slot's frames. */
static airy_status make_rows(struct airy_lane *lane, struct airy_slot *slot,
                             struct airy_tally *tally, size_t *count)
{
    struct integrate_lane *own = of_writer(lane, slot);
    const size_t bins = own->integrator->bins;
    while (tally->frames < slot->frames) {
        struct taken taken = {.i = tally->frames, .row = slot->rows[tally->frames]};
        AIRY_TRY(take_frame(lane, slot, &taken, tally));
        if (lane->run->group > 1) {
            note_empty(tally, &taken, taken.sums + AIRY_SUM_COUNT_PLANE * bins, bins);
            AIRY_TRY(add_to_group(own, slot, &taken, count));
        } else {
            AIRY_TRY(make_row(own, slot, &taken, *count));
            note_empty(tally, &taken, own->patterns[(*count)++].norms + 2 * bins, bins);
        }
        if (!taken.problem) {
            tally->stored += slot->sizes[tally->frames];
            tally->max = fmax(tally->max, taken.stats.max);
        }
        tally->frames++;
    }
    return AIRY_OK;
}

airy_status airy_integrate_take(struct airy_lane *lane, struct airy_slot *slot,
                                struct airy_tally *tally)
{
    struct integrate_lane *own = of_writer(lane, slot);
    const struct integrate_hooks *hooks = own->job->hooks;
    size_t count = 0;
    airy_error error = {.status = AIRY_OK};
    if (hooks)
        hooks->taken(hooks->user, slot);
    const airy_status made = make_rows(lane, slot, tally, &count);
    (void)airy_error_first(&error, made);
    if (hooks)
        hooks->made(hooks->user, slot, own->patterns, count);
    const airy_status written = flush_rows(own, count);
    if (written != AIRY_OK) { /* the file did not take them */
        tally->frames = tally->empty = 0;
        tally->stored = 0;
        tally->max = 0;
        return written;
    }
    AIRY_TRY(hand_on_rows(own, count, tally));
    return made == AIRY_OK ? AIRY_OK : airy_error_restore(&error);
}

void airy_integrate_booked(struct airy_lane *lane, struct airy_slot *slot,
                           const struct airy_tally *tally)
{
    const struct integrate_lane *own = of_writer(lane, slot);
    const struct integrate_hooks *hooks = own->job->hooks;
    if (hooks)
        hooks->written(hooks->user, slot, own->patterns, tally->frames);
}

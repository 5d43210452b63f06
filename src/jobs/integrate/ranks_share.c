/* What the ranks of a run share while it lasts: claims, progress, counts, names of their files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/size.h"
#include "jobs/configuration.h"
#include "jobs/integrate/ranks.h"
#include "jobs/integrate/rows_events.h"

/*
 * Return how many rows to claim next of `total`, of which `taken` are claimed: many while many are
 * left, so that few ranks claim at a time, and `least` at the end, so that all ranks end together.
 */
static size_t claim_size(size_t least, size_t total, size_t taken, size_t ranks)
{
    enum { PIECES = 4, MOST = 32 }; /* of what is left, for each; batches */
    const size_t left = total > taken ? total - taken : 0, share = left / (PIECES * ranks);
    return share < least ? least : share < MOST * least ? share : MOST * least;
}

/* This rank has failed, or was cancelled: nobody starts anything more. */
static void stop(struct airy_ranks_run *run)
{
    if (!run->stop)
        airy_world_add(run->world, AIRY_RANKS_STOP, 1);
    run->stop = true;
}

/* An airy_claim_fn. */
static bool claim(void *user, size_t least, size_t *first, size_t *count)
{
    struct airy_ranks_run *run = user;
    *count = claim_size(least, run->rows, run->seen, airy_world_size(run->world));
    const int64_t before = airy_world_add(run->world, run->counter, (int64_t)*count);
    if (before < 0 || (size_t)before < run->seen) { /* the same rows would be claimed for ever */
        run->went_back = true;
        stop(run);
        return false;
    }
    *first = (size_t)before;
    run->seen = *first + *count;
    return !atomic_load(&run->it->job->cancelled) &&
           airy_world_add(run->world, AIRY_RANKS_STOP, 0) == 0;
}

/* Tell the others of frames that were done since, at times; whether it is time. */
static void look(struct airy_ranks_run *run, size_t done)
{
    static const uint64_t STEP = 100000000; /* ns */
    const uint64_t now = airy_clock_ns();
    if (now - run->time < STEP)
        return;
    run->time = now;
    const size_t more = done - run->posted;
    run->shown = run->resumed + more +
                 (size_t)airy_world_add(run->world, AIRY_RANKS_DONE, (int64_t)more);
    run->posted = done;
    run->stop = run->stop || airy_world_add(run->world, AIRY_RANKS_STOP, 0) > 0;
}

/* An airy_progress_fn. It is called often. */
static bool step(void *user, size_t done, size_t total)
{
    struct airy_ranks_run *run = user;
    (void)total;
    look(run, run->base + done);
    if (!airy_job_step(run->it->job, run->shown, run->it->frames))
        stop(run);
    return !run->stop;
}

void airy_ranks_wait(void *user)
{
    struct airy_ranks_run *run = user;
    look(run, run->posted);
    if (!airy_job_step(run->it->job, run->shown, run->it->frames))
        stop(run);
}

static void take_message(void *user, airy_log_level level, const char *text)
{
    const struct airy_ranks_run *run = user;
    airy_job_frame_message(run->it->job, level, text);
}

/* An airy_row_fn: a file has rows of its own numbers. */
static airy_status take_row(void *user, const airy_run_row *row)
{
    const struct airy_ranks_run *run = user;
    airy_run_row of_result = *row;
    of_result.number += run->first_row;
    return airy_integration_row(run->it, &of_result);
}

void airy_ranks_take(struct airy_ranks_run *run, airy_run_params *params)
{
    params->claim = claim;
    params->claim_user = run;
    params->parts = airy_world_size(run->world);
    params->progress = step;
    params->message = take_message;
    params->user = run;
    if (params->row) {
        params->row = take_row;
        params->row_user = run;
    }
    /* The job learns that the file is there; whoever is to stop is asked again soon. */
    (void)airy_job_step(run->it->job, airy_max_size(run->shown, run->resumed), run->it->frames);
}

/* Add frames without a valid pixel; the first one is that of the lowest row. */
static void add_empty(airy_run_info *sum, const airy_run_info *one)
{
    if (one->empty && (!sum->empty || one->first_empty < sum->first_empty))
        sum->first_empty = one->first_empty;
    sum->empty += one->empty;
}

/* Add bad frames; the first one is that of the lowest row, whichever rank was quicker. */
static void add_bad(airy_run_info *sum, const airy_run_info *one)
{
    sum->bad += one->bad;
    sum->max = fmax(sum->max, one->max);
    if (!one->first_error[0] || (sum->first_error[0] && sum->first_bad <= one->first_bad))
        return;
    sum->first_bad = one->first_bad;
    memcpy(sum->first_error, one->first_error, sizeof(sum->first_error));
}

void airy_ranks_add(airy_run_info *sum, const airy_run_info *one)
{
    sum->frames += one->frames;
    sum->host_bytes += one->host_bytes;
    sum->device_bytes += one->device_bytes;
    sum->stored_bytes += one->stored_bytes;
    sum->decoded_bytes += one->decoded_bytes;
    sum->stopped |= one->stopped;
    sum->batch = one->batch;
    sum->slots = one->slots;
    sum->readers = one->readers;
    add_bad(sum, one);
    add_empty(sum, one);
}

/* OUT.h5 -> OUT_0003.h5 */
void airy_ranks_name(char name[AIRY_RANKS_NAME], const char *output, size_t number,
                     const char *tail)
{
    const char *dot = strrchr(output, '.'); /* .h5, .hdf5 or .nxs: it is there */
    const size_t length = (size_t)(dot - output),
                 stem = length < AIRY_RANKS_NAME ? length : AIRY_RANKS_NAME - 1;
    memcpy(name, output, stem);
    snprintf(name + stem, AIRY_RANKS_NAME - stem, "_%04zu%s%s", number, dot, tail);
}

/* Nothing has come of a new run: what it has made goes. */
static void remove_empty(const struct airy_ranks_run *run)
{
    const struct airy_integration *it = run->it;
    char partial[AIRY_PARTIAL_PATH], name[AIRY_RANKS_NAME];
    if (!airy_world_is_first(run->world) || it->run.resume ||
        airy_world_add(run->world, AIRY_RANKS_DONE, 0) > 0 ||
        airy_job_partial_path(partial, it->v->output) != AIRY_OK)
        return;
    unlink(partial);
    for (size_t i = 0; i < it->files; i++) {
        airy_ranks_name(name, it->v->output, i, ".partial");
        unlink(name);
    }
}

/* Everybody's counts. */
static airy_status add_up(struct airy_ranks_run *run, airy_run_info *info)
{
    const size_t ranks = airy_world_size(run->world);
    airy_run_info *all = NULL, sum = {0};
    airy_status status = airy_memory_calloc((void **)&all, ranks, sizeof(*all), "counts of ranks");
    status = airy_world_agree(run->world, status, NULL, NULL);
    if (status == AIRY_OK)
        status = airy_world_gather(run->world, info, sizeof(*info), all);
    for (size_t i = 0; status == AIRY_OK && i < ranks; i++)
        airy_ranks_add(&sum, &all[i]);
    free(all);
    if (status == AIRY_OK)
        *info = sum;
    return status;
}

airy_status airy_ranks_gather(struct airy_ranks_run *run, airy_run_info *info, airy_status status)
{
    if (status != AIRY_OK || info->stopped)
        stop(run);
    if (info->frames > run->posted)
        airy_world_add(run->world, AIRY_RANKS_DONE, (int64_t)(info->frames - run->posted));
    run->posted = info->frames;
    if (status == AIRY_OK && run->went_back)
        status = airy_fail(AIRY_ERR_IO, "the counter of rows that the ranks share went back");
    status = airy_world_agree(run->world, status, airy_ranks_wait, run);
    if (status == AIRY_OK)
        status = add_up(run, info);
    if (status == AIRY_OK && info->stopped)
        status = airy_fail(AIRY_ERR_CANCELLED, "cancelled"); /* the same on all */
    if (status != AIRY_OK)
        remove_empty(run);
    return status;
}

/* What the ranks of a run share while it lasts: claims, progress, counts, names of their files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "integrate/ranks.h"

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

bool ranks_claim(void *user, size_t least, size_t *first, size_t *count)
{
    struct ranks_run *run = user;
    struct world *world = run->world;
    *count =
        claim_size(least, run->rows, run->seen, world_alone(world) ? 1 : (size_t)world->place.size);
    *first = (size_t)world_add(world, run->cell, (int64_t)*count);
    run->seen = *first + *count;
    return !tool_interrupted() && world_add(world, RANKS_CELL_STOP, 0) == 0;
}

void ranks_stop(struct ranks_run *run)
{
    if (!run->stop)
        world_add(run->world, RANKS_CELL_STOP, 1);
    run->stop = true;
}

/* Frames done by all, for the bar, which is rank 0's. */
static void show(struct ranks_run *run)
{
    const int64_t done = world_add(run->world, RANKS_CELL_DONE, 0);
    progress_step(&run->progress, run->resumed + (size_t)done, run->job->frames);
}

/* Called often; others are told at times. */
bool ranks_step(void *user, size_t done, size_t total)
{
    static const double STEP = 0.1; /* s */
    struct ranks_run *run = user;
    (void)total;
    const double now = tool_now();
    if (tool_interrupted())
        ranks_stop(run);
    if (now - run->time < STEP)
        return !run->stop;
    run->time = now;
    world_add(run->world, RANKS_CELL_DONE, (int64_t)(run->base + done - run->posted));
    run->posted = run->base + done;
    run->stop = run->stop || world_add(run->world, RANKS_CELL_STOP, 0) > 0;
    if (world_first(run->world))
        show(run);
    return !run->stop;
}

void ranks_idle(void *user)
{
    struct ranks_run *run = user;
    const double now = tool_now();
    if (now - run->time < 0.1)
        return;
    run->time = now;
    if (tool_interrupted())
        ranks_stop(run);
    if (world_first(run->world))
        show(run);
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

void ranks_add(airy_run_info *sum, const airy_run_info *one)
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

void ranks_take(struct ranks_run *run, airy_run_params *params)
{
    params->claim = ranks_claim;
    params->claim_user = run;
    params->parts = world_alone(run->world) ? 1 : (size_t)run->world->place.size;
    params->progress = ranks_step;
    params->user = run;
}

/* OUT.h5 -> OUT_0003.h5 */
void ranks_file_name(char name[RANKS_FILE_NAME], const char *output, size_t number,
                     const char *tail)
{
    const char *dot = strrchr(output, '.'); /* .h5, .hdf5 or .nxs: it is there */
    const size_t length = (size_t)(dot - output),
                 stem = length < RANKS_FILE_NAME ? length : RANKS_FILE_NAME - 1;
    memcpy(name, output, stem);
    snprintf(name + stem, RANKS_FILE_NAME - stem, "_%04zu%s%s", number, dot, tail);
}

/* Remove the unfinished files. */
static void remove_files(const struct ranks_run *run)
{
    for (size_t i = 0; i < run->job->files; i++) {
        char name[RANKS_FILE_NAME];
        ranks_file_name(name, run->job->params->output, i, ".partial");
        unlink(name);
    }
}

/* Nothing has come of a new run: what it has made goes. */
static void remove_empty(const struct ranks_run *run)
{
    char partial[4300];
    snprintf(partial, sizeof(partial), "%s.partial", run->job->params->output);
    if (!world_first(run->world) || run->job->run.resume ||
        world_add(run->world, RANKS_CELL_DONE, 0) > 0)
        return;
    unlink(partial);
    if (run->job->files)
        remove_files(run);
}

/* Everybody's counts. */
static int add_up(struct ranks_run *run, airy_run_info *info)
{
    struct world *world = run->world;
    const size_t ranks = world_alone(world) ? 1 : (size_t)world->place.size;
    airy_run_info *all = calloc(ranks, sizeof(*all)), sum = {0};
    int code = all ? AIRY_EXIT_OK : tool_fail(run->job->common, "out of memory");
    if (code == AIRY_EXIT_OK)
        code = world_gather(world, info, sizeof(*info), all);
    for (size_t i = 0; code == AIRY_EXIT_OK && i < ranks; i++)
        ranks_add(&sum, &all[i]);
    free(all);
    if (code == AIRY_EXIT_OK)
        *info = sum;
    return code;
}

int ranks_gather(struct ranks_run *run, airy_run_info *info, int code)
{
    const struct integration *job = run->job;
    if (code != AIRY_EXIT_OK || info->stopped)
        ranks_stop(run);
    if (info->frames > run->posted)
        world_add(run->world, RANKS_CELL_DONE, (int64_t)(info->frames - run->posted));
    code = world_agree(run->world, code, ranks_idle, run);
    if (code == AIRY_EXIT_OK)
        code = add_up(run, info);
    /* All know the same counts and say the same. */
    if (code == AIRY_EXIT_OK && info->stopped)
        code = integrate_stopped(job, info->frames + run->resumed);
    if (code != AIRY_EXIT_OK)
        remove_empty(run);
    return code;
}

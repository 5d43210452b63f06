#include "pipeline/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/numa.h"
#include "core/objects.h"
#include "integrate/integrator.h"

void airy_run_wake(struct airy_run *run)
{
    for (size_t i = 0; i < run->team.lanes; i++) {
        pthread_cond_broadcast(&run->lanes[i].room);
        pthread_cond_broadcast(&run->lanes[i].full);
        pthread_cond_broadcast(&run->lanes[i].sent);
    }
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
        run->status = status;
        snprintf(run->message, sizeof(run->message), "%s", airy_last_error());
    }
    airy_run_wake(run);
    pthread_mutex_unlock(&run->lock);
}

/* Why a frame is bad, or NULL. message: room for the sentence. */
static const char *frame_problem(struct airy_run *run, const struct airy_slot *slot, size_t i,
                                 size_t frame, const airy_frame_stats *stats, char *message,
                                 size_t size)
{
    const struct airy_frame_fate *fate = &slot->fates[i];
    if (fate->status != AIRY_OK) {
        snprintf(message, size, "%s", fate->message);
        return message;
    }
    if (stats->status == AIRY_FRAME_GOOD)
        return NULL;
    char where[512] = "";
    (void)airy_stack_where(run->stack, frame, where, sizeof(where));
    snprintf(message, size, "%s: %s", where, airy_frame_error(stats->status));
    return message;
}

/* What the writer has done with a slot, for the run's books. */
struct tally {
    size_t frames, bad;
    uint64_t stored;
    size_t bad_row; /* the first; message says why */
    char message[768];
};

/* Note a bad frame; its row gets NaN. Fails where such a frame ends the run. */
static airy_status mark_bad(struct airy_lane *lane, airy_status status, size_t row,
                            const char *problem, struct tally *tally)
{
    if (!tally->bad) {
        tally->bad_row = row;
        snprintf(tally->message, sizeof(tally->message), "%s", problem);
    }
    tally->bad++;
    if (!lane->run->params->skip_bad)
        return airy_fail(status, "%s", problem);
    for (size_t b = 0; b < lane->integrator->bins; b++)
        lane->intensity[b] = lane->std[b] = lane->sem[b] = NAN;
    return AIRY_OK;
}

static airy_status write_row(struct airy_lane *lane, struct airy_slot *slot, size_t i,
                             struct tally *tally)
{
    struct airy_run *run = lane->run;
    const airy_integrator *integrator = lane->integrator;
    const size_t bins = integrator->bins;
    const size_t row = run->rows[slot->number * run->plan.batch + i];
    const size_t frame = airy_run_frame(run->params, row);
    unsigned char *results = airy_host_data(slot->host_results);
    double *sums = (double *)(void *)results + i * AIRY_SUM_PLANES * bins;
    airy_frame_stats stats;
    memcpy(&stats,
           results + run->plan.batch * AIRY_SUM_PLANES * bins * sizeof(double) + i * sizeof(stats),
           sizeof(stats));

    char message[768];
    const bool errors = integrator->params.error_model != AIRY_ERROR_MODEL_NONE;
    const char *problem = frame_problem(run, slot, i, frame, &stats, message, sizeof(message));
    if (problem) {
        const airy_status status = slot->fates[i].status;
        AIRY_TRY(
            mark_bad(lane, status != AIRY_OK ? status : AIRY_ERR_CORRUPT, row, problem, tally));
        memset(sums, 0, AIRY_SUM_PLANES * bins * sizeof(double));
        if (stats.status == AIRY_FRAME_GOOD)
            stats.status = 0;
    } else {
        const double monitor = run->params->monitor ? run->params->monitor[frame] : 1.0;
        AIRY_TRY(airy_integrator_finish(integrator, sums, monitor, lane->intensity,
                                        errors ? lane->std : NULL, errors ? lane->sem : NULL));
    }
    if (!run->file)
        return AIRY_OK;
    return airy_pattern_file_write(run->file, row,
                                   &(struct airy_pattern_row){
                                       .intensity = lane->intensity,
                                       .std = errors ? lane->std : NULL,
                                       .sem = errors ? lane->sem : NULL,
                                       .sums = sums,
                                       .stats = stats,
                                       .message = problem,
                                   });
}

static airy_status write_slot(struct airy_lane *lane, struct airy_slot *slot, struct tally *tally)
{
    AIRY_TRY(airy_event_wait(slot->done));
    for (size_t i = 0; i < slot->frames; i++) {
        AIRY_TRY(write_row(lane, slot, i, tally));
        tally->frames++;
        tally->stored += slot->sizes[i];
    }
    return AIRY_OK;
}

/* Enter what was done into the books of the run. The lock is held. */
static void book(struct airy_run *run, const struct tally *tally)
{
    airy_run_info *out = run->out;
    if (tally->bad && (out->bad == 0 || tally->bad_row < run->first_bad_row)) {
        run->first_bad_row = tally->bad_row;
        snprintf(out->first_error, sizeof(out->first_error), "%.511s", tally->message);
    }
    out->frames += tally->frames;
    out->bad += run->params->skip_bad ? tally->bad : 0;
    out->stored_bytes += tally->stored;
}

/* A frame of this batch ends the run, when those before are done. The lock is held. */
static void end_by(struct airy_run *run, size_t batch, airy_status status, const char *sentence)
{
    if (run->failed || batch > run->bad_batch)
        return;
    run->bad_batch = batch;
    run->status = status;
    snprintf(run->message, sizeof(run->message), "%s", sentence);
    airy_run_wake(run);
}

static void show_progress(struct airy_run *run)
{
    if (!run->params->progress)
        return;
    pthread_mutex_lock(&run->progress_lock);
    pthread_mutex_lock(&run->lock);
    const size_t done = run->resumed + run->out->frames;
    pthread_mutex_unlock(&run->lock);
    const bool proceed =
        run->params->progress(run->params->user, done, run->resumed + run->row_count);
    if (!proceed) {
        pthread_mutex_lock(&run->lock);
        run->stopped = true;
        airy_run_wake(run);
        pthread_mutex_unlock(&run->lock);
    }
    pthread_mutex_unlock(&run->progress_lock);
}

/* Results of a submitted slot into the file. The lock is not held. */
static void take_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    struct airy_run *run = lane->run;
    struct tally tally = {0};
    const airy_status status = write_slot(lane, slot, &tally);
    char sentence[1024] = "";
    if (status != AIRY_OK)
        snprintf(sentence, sizeof(sentence), "%s", airy_last_error());
    pthread_mutex_lock(&run->lock);
    book(run, &tally);
    if (status != AIRY_OK && tally.bad && !run->params->skip_bad)
        end_by(run, slot->number, status, sentence);
    pthread_mutex_unlock(&run->lock);
    if (status != AIRY_OK && !(tally.bad && !run->params->skip_bad))
        airy_run_fail(lane, status);
    else if (status == AIRY_OK)
        show_progress(run);
}

void *airy_run_writer(void *arg)
{
    struct airy_lane *lane = arg;
    struct airy_run *run = lane->run;
    airy_numa_bind(lane->integrator->device->node);
    pthread_mutex_lock(&run->lock);
    for (;;) {
        struct airy_slot *slot = &lane->slots[lane->written % run->plan.slots];
        const bool begun = lane->written < lane->started;
        if (run->failed || (!begun && airy_run_ends(run)))
            break;
        if (!begun || slot->state != AIRY_SLOT_SUBMITTED) {
            pthread_cond_wait(&lane->sent, &run->lock);
            continue;
        }
        if (slot->number < run->bad_batch) {
            pthread_mutex_unlock(&run->lock);
            take_slot(lane, slot);
            pthread_mutex_lock(&run->lock);
        }
        slot->state = AIRY_SLOT_FREE;
        lane->written++;
        pthread_cond_broadcast(&lane->room);
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}
